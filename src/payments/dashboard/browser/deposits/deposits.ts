import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { answerOf } from '#pages/browser/answer.ts';
import { useChange } from '#pages/browser/changes.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { Reference } from '#pages/browser/reference.ts';
import { dashboard } from '../addresses.ts';
import { api, idempotencyKey, type Payments } from '../api.ts';
import { Amount, ChainName, TransactionHash, useChains } from '../chains.ts';
import { Choice, Filters, givenFilters, oneOf } from '../filters.ts';
import { openPage } from '../frame.ts';
import { numberedList, pageQuery } from '../paging.ts';
import { Download } from '../session/download.ts';
import { useHasPermission } from '../signed-in.ts';
import { SeedExport } from './seed.ts';
import { SweepCard } from './sweep.ts';

type Deposit = Payments['DepositAddress'];

const RENEW_MS = 10_000;
const MONEY = [
  ['true', 'Not swept'],
  ['false', 'Nothing left'],
] as const;

/** Page of deposit addresses, with what lies on them and the sweep that has them pay. */
function DepositsPage(): VNode {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [changes, setChanges] = useState(0);
  const mayWrite = useHasPermission('write');
  const isAdmin = useHasPermission('admin');
  const chains = useChains() ?? [];
  const chain = Number(givenFilters().get('chain_id'));
  const money = oneOf('unswept', MONEY);
  const session = givenFilters().get('session_id');
  const filters = {
    ...(chain > 0 && { chain_id: chain }),
    ...(money && { unswept: money === 'true' }),
    ...(session && { session_id: session }),
  };
  const choose = ({ address }: Deposit, isOn: boolean) =>
    setChosen(new Set(isOn ? [...chosen, address] : [...chosen].filter(one => one !== address)));
  return html`
    <h1>Deposit addresses</h1>
    <p class="hint">
      Each address belongs to one checkout and can only pay your recipient. A sweep has it pay. Any account can send a
      sweep, and pays only for its gas.
    </p>
    <p class="notice">
      Nobody outside of the project has audited the contracts of these addresses.
    </p>
    ${h(Filters, {
      children: html`
        ${h(Choice, {
          name: 'chain_id',
          label: 'Chain',
          words: chains.map(({ id, name }) => [String(id), name] as const),
        })}
        ${h(Choice, { name: 'unswept', label: 'Money', words: MONEY })}
      `,
    })}
    <p>${h(Download, { path: 'deposit-addresses/export', query: words(filters), file: 'deposit-addresses.csv', label: 'Export (CSV)' })}</p>
    ${
      mayWrite &&
      h(SweepCard, {
        chosen: [...chosen],
        swept: () => {
          setChosen(new Set());
          setChanges(changes + 1);
        },
      })
    }
    ${numberedList({
      label: 'Deposit addresses',
      load: (page, signal) =>
        api.GET('/api/v1/deposit-addresses', {
          params: { query: { ...filters, ...pageQuery(page) } },
          signal,
        }),
      keyOf: ({ address }: Deposit) => address,
      everyMs: RENEW_MS,
      version: changes,
      empty:
        Object.keys(filters).length === 0
          ? 'No deposit addresses yet.'
          : 'No deposit addresses match these filters.',
      columns: mayWrite
        ? [choiceColumn(chosen, choose), ...COLUMNS, lookColumn(() => setChanges(changes + 1))]
        : COLUMNS,
    })}
    ${isAdmin && h(SeedExport, {})}
  `;
}

function words(filters: Readonly<Record<string, string | number | boolean>>): Record<string, string> {
  return Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, String(value)]));
}

function choiceColumn(chosen: ReadonlySet<string>, choose: (deposit: Deposit, isOn: boolean) => void) {
  return {
    name: 'Sweep',
    cell: (deposit: Deposit) =>
      html`<input
        type="checkbox"
        aria-label=${`Sweep ${deposit.address}`}
        checked=${chosen.has(deposit.address)}
        disabled=${deposit.status === 'open'}
        onChange=${(event: Event & { readonly currentTarget: HTMLInputElement }) =>
          choose(deposit, event.currentTarget.checked)}
      />`,
  };
}

function lookColumn(changed: () => void) {
  return {
    name: 'Next look',
    cell: ({ address, next_look_at: at }: Deposit) =>
      at === null ? 'In every block' : html`${h(Ago, { at })} ${h(LookNow, { address, changed })}`,
  };
}

/** Button that has the chain asked for the money of an address at once. */
function LookNow({ address, changed }: { address: string; changed: () => void }): VNode {
  const change = useChange();
  const look = () =>
    change.run(async () => {
      const params = { path: { address }, header: { 'Idempotency-Key': idempotencyKey() } };
      await answerOf(api.POST('/api/v1/deposit-addresses/{address}/look', { params }));
      changed();
    });
  return html`<button type="button" aria-label=${`Look at ${address} now`} disabled=${change.isBusy} onClick=${() => void look()}>Look now</button>`;
}

const COLUMNS = [
  {
    name: 'Address',
    cell: ({ address }: Deposit) => h(Reference, { value: address }),
  },
  {
    name: 'Checkout',
    cell: ({ session_id, status }: Deposit) => html`
      ${h(Reference, { value: session_id, href: dashboard.payment(session_id) })}
      ${status === 'open' && h(Badge, { tone: 'busy', children: 'Open' })}
    `,
  },
  { name: 'Chain', cell: ({ chain_id }: Deposit) => h(ChainName, { id: chain_id }) },
  {
    name: 'Received',
    isNumber: true,
    cell: (deposit: Deposit) => h(Amount, { units: deposit.amount_received, of: deposit }),
  },
  {
    name: 'Not swept',
    isNumber: true,
    cell: (deposit: Deposit) => h(Amount, { units: deposit.amount_unswept, of: deposit }),
  },
  {
    name: 'Last sweep',
    cell: ({ sweeps: [last], chain_id }: Deposit) =>
      last === undefined
        ? '–'
        : html`${h(Ago, { at: last.block_timestamp })} ${h(TransactionHash, { hash: last.tx_hash, chainId: chain_id })}`,
  },
  { name: 'Created', cell: ({ created_at }: Deposit) => h(Ago, { at: created_at }) },
];

openPage('Deposit addresses', DepositsPage);
