import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { DialogButton } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { SelectField, TextField } from '#pages/browser/fields.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { useIsOwner, useSignIn } from '../signed-in.ts';

type Key = Payments['ApiKey'];
type Created = Payments['CreatedApiKey'];

const PERMISSIONS: readonly (readonly [Key['permission'], string])[] = [
  ['read', 'read: view everything except keys'],
  ['write', 'write: also create links and checkouts'],
  ['admin', 'admin: full access'],
];
const MODES: readonly (readonly [Key['mode'], string])[] = [
  ['live', 'Live'],
  ['test', 'Test'],
];

/** Button and dialog that create a key. A key of test mode creates test keys only. */
export function CreateKey({ onMade }: { onMade: (key: Created) => void }): VNode {
  const own = useSignIn().mode;
  const isOwner = useIsOwner();
  const [name, setName] = useState('');
  const [permission, setPermission] = useState<Key['permission']>('read');
  const [mode, setMode] = useState(own);
  const [expiresAt, setExpiresAt] = useState('');
  const create = async () => {
    const expires_at = expiresAt === '' ? null : new Date(expiresAt).toISOString();
    const params = { header: { 'Idempotency-Key': idempotencyKey() } };
    const body = { name: name.trim(), permission, mode, expires_at };
    const { data } = await answerOf(api.POST('/api/v1/api-keys', { params, body }));
    setName('');
    onMade(data);
  };
  return h(DialogButton, {
    label: 'Create key',
    title: 'Create a key',
    action: 'Create',
    tone: 'primary',
    onConfirm: create,
    children: html`
      ${h(TextField, {
        label: 'Name',
        param: 'name',
        value: name,
        isRequired: true,
        hint: 'What uses the key, for example your shop’s server.',
        onValue: setName,
      })}
      ${h(SelectField<Key['permission']>, {
        label: 'Permission',
        param: 'permission',
        value: permission,
        options: PERMISSIONS.filter(([name]) => isOwner || name !== 'admin'),
        onValue: setPermission,
      })}
      ${
        own === 'live' &&
        h(SelectField<Key['mode']>, {
          label: 'Mode',
          param: 'mode',
          value: mode,
          options: MODES,
          onValue: setMode,
        })
      }
      ${h(TextField, {
        label: 'Expires at',
        param: 'expires_at',
        type: 'datetime-local',
        value: expiresAt,
        hint: 'In your time zone. Leave empty for no expiry.',
        onValue: setExpiresAt,
      })}
    `,
  });
}

const GRACES = [
  ['0', 'immediately'],
  ['3600', 'in one hour'],
  ['86400', 'in one day'],
  ['604800', 'in one week'],
] as const;

/** Buttons that roll or revoke a key. */
export function KeyActions({
  apiKey,
  onMade,
  onSaid,
}: {
  apiKey: Key;
  onMade: (key: Created) => void;
  onSaid: (said: string) => void;
}): VNode {
  const { id, name, last_four: end } = apiKey;
  const [grace, setGrace] = useState('3600');
  const roll = async () => {
    const params = { path: { api_key_id: id }, header: { 'Idempotency-Key': idempotencyKey() } };
    const body = { old_key_expires_in: Number(grace) };
    const { data } = await answerOf(api.POST('/api/v1/api-keys/{api_key_id}/roll', { params, body }));
    onMade(data);
  };
  const revoke = async () => {
    await answerOf(api.DELETE('/api/v1/api-keys/{api_key_id}', { params: { path: { api_key_id: id } } }));
    onSaid(`The key “${name}” is revoked.`);
  };
  return html`<span class="row">
    ${h(DialogButton, {
      label: 'Roll',
      title: `Roll the key “${name}”?`,
      onConfirm: roll,
      children: html`
        <p>A new key with the same name and permission takes its place. It is shown once.</p>
        ${h(SelectField<string>, {
          label: `Old key …${end} expires`,
          param: 'old_key_expires_in',
          value: grace,
          options: GRACES,
          onValue: setGrace,
        })}
      `,
    })}
    ${h(DialogButton, {
      label: 'Revoke',
      title: `Revoke the key “${name}”?`,
      tone: 'danger',
      onConfirm: revoke,
      children: html`
        <p>Requests with the key …${end} are refused from now on. This cannot be undone.</p>
      `,
    })}
  </span>`;
}
