import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { TextField } from '#pages/browser/fields.ts';
import { asProblem, Problem } from '#pages/browser/problem.ts';
import { imageIdIn, pictureAddress } from '#payments/browser/image-address.ts';
import { api, idempotencyKey } from './api.ts';

/** Longest file. Source: `ImageUpload` of the contract. */
const MAX_BYTES = 2 ** 20;
const ACCEPTED = 'image/png,image/jpeg,image/webp,image/gif';
const TOO_LARGE = 'This file is too large: a picture may have 1 MB. Save it smaller, and choose it again.';
const REFUSED =
  'This file is not a PNG, JPEG, WebP or GIF picture that can be shown: it is of another kind, damaged, or has too many pixels.';
const NO_SPACE =
  'There is no space for more pictures. Those that no link and no setting uses any more are removed after a while.';

type Chosen = Event & { readonly currentTarget: HTMLInputElement };

/** Field for the address of a picture, which that of a file becomes once it is uploaded. */
export function PictureField({
  label,
  param,
  value,
  onValue,
}: {
  label: string;
  /** As of every field. */
  param: string;
  value: string;
  onValue: (address: string) => void;
}): VNode {
  const id = useId();
  const { isBusy, problem, run } = useChange();
  const isOwn = imageIdIn(value) !== undefined;
  const choose = ({ currentTarget: input }: Chosen) => {
    const file = input.files?.[0];
    if (file !== undefined) void run(async () => onValue(await uploaded(file)));
    input.value = ''; // so that the same file can be chosen again
  };
  return html`<div class="picture-field">
    ${h(TextField, {
      label,
      param,
      type: 'url',
      value,
      placeholder: 'https://…',
      hint:
        value.trim() !== '' &&
        !isOwn &&
        'Payers’ browsers load this picture from its host. Upload the file to keep them on this server.',
      onValue,
    })}
    <div class="row">
      ${isOwn && html`<img class="picture-preview" src=${pictureAddress(value)} alt=${`Preview: ${label}`} />`}
      <input
        class="visually-hidden"
        id=${id}
        type="file"
        accept=${ACCEPTED}
        aria-label=${`Upload a file: ${label}`}
        disabled=${isBusy}
        onChange=${choose}
      />
      <label class="button" for=${id} aria-disabled=${isBusy}>${isBusy ? 'Uploading…' : 'Upload a file'}</label>
      ${value !== '' && html`<button type="button" onClick=${() => onValue('')}>Remove</button>`}
      ${isBusy && html`<progress aria-label=${`Uploading: ${label}`}></progress>`}
    </div>
    <p class="field-error" role="alert" hidden=${problem === undefined}>${problem?.message}</p>
  </div>`;
}

/** Uploads a file. Resolves to its address. @throws Problem in words for people */
async function uploaded(file: File): Promise<string> {
  if (file.size > MAX_BYTES) throw new Problem(TOO_LARGE);
  const params = { header: { 'Idempotency-Key': idempotencyKey() } };
  const body = { data: await base64Of(file) };
  try {
    const { data } = await answerOf(api.POST('/api/v1/images', { params, body }));
    return data.url;
  } catch (reason) {
    const problem = asProblem(reason);
    if (problem.param === 'data') throw new Problem(REFUSED);
    throw problem.code === 'invalid_status_transition' ? new Problem(NO_SPACE) : problem;
  }
}

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''));
    reader.onerror = () => reject(new Problem('This file cannot be read. Choose it again.'));
    reader.readAsDataURL(file);
  });
}
