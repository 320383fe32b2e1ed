import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { useChange } from '#pages/browser/changes.ts';
import { dashboard } from '../addresses.ts';
import { api } from '../api.ts';

/** Search field that opens the page of an id of any kind. */
export function Finder(): VNode {
  const { isBusy, problem, run } = useChange();
  const [hint, setHint] = useState('');
  const find = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const id = String(new FormData(event.currentTarget).get('id') ?? '').trim();
    setHint('');
    run(async () => {
      const address = await addressOf(id);
      if (address === undefined) setHint('Ids begin with cs_, txn_, pl_ or evt_.');
      else location.assign(address);
    });
  };
  return html`<form class="row" role="search" onSubmit=${find}>
    <label class="visually-hidden" for="find">Id of a checkout, transfer, link or event</label>
    <input id="find" name="id" type="search" placeholder="cs_…, txn_…, pl_… or evt_…" autocomplete="off" required />
    <button disabled=${isBusy}>Find</button>
    <span class="field-error" role="status">${problem?.message ?? hint}</span>
  </form>`;
}

async function addressOf(id: string): Promise<string | undefined> {
  if (id.startsWith('cs_')) return dashboard.payment(id);
  if (id.startsWith('pl_')) return dashboard.link(id);
  if (id.startsWith('evt_')) return dashboard.event(id);
  if (!id.startsWith('txn_')) return undefined;
  const params = { path: { transaction_id: id } };
  const { data } = await answerOf(api.GET('/api/v1/transactions/{transaction_id}', { params }));
  return dashboard.payment(data.session_id);
}
