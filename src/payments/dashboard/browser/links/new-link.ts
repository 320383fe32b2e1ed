import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { Awaited, answerOf, Empty, useAnswer } from '#pages/browser/answer.ts';
import { h } from '#pages/browser/element.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { useChains } from '../chains.ts';
import { openPage } from '../frame.ts';
import { useHasPermission } from '../signed-in.ts';
import { type LinkBody, newDraft } from './draft.ts';
import { LinkForm } from './link-form.ts';

/** Page that creates a link and then opens it. */
function NewLink(): VNode {
  const mayWrite = useHasPermission('write');
  const chains = useChains();
  const organization = useAnswer(signal => api.GET('/api/v1/organization', { signal }));
  const create = async (body: LinkBody) => {
    const params = { header: { 'Idempotency-Key': idempotencyKey() } };
    const { data } = await answerOf(api.POST('/api/v1/payment-links', { params, body }));
    location.assign(`${dashboard.link(data.id)}?created`);
  };
  if (!mayWrite) return html`<h1>New link</h1>${h(Empty, { children: 'Your role may not create links.' })}`;
  return html`
    <p class="small"><a href=${dashboard.links}>Links</a></p>
    <h1>New link</h1>
    ${h(Awaited<Payments['Organization']>, {
      loading: organization,
      children: settings =>
        chains !== undefined &&
        h(LinkForm, {
          initial: newDraft(chains, settings),
          chains,
          action: 'Create link',
          onSend: create,
        }),
    })}
  `;
}

openPage('New link', NewLink);
