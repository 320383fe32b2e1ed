import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { changeAddress, FIRST_PAGE, useAddress } from '#pages/browser/show.ts';
import type { Column } from '#pages/browser/table.ts';
import { api, type Explorer } from '../api.ts';
import { ageColumn } from '../records/age-column.ts';
import { type Choice, Choices, useChoice } from '../records/choices.ts';
import { CoinAmount } from '../records/coin.ts';
import { internalColumns, internalKey } from '../records/internal-columns.ts';
import { LogEntry, logKey } from '../records/log-entry.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { blockCell, transactionColumns, transactionKey } from '../records/transaction-columns.ts';
import { transferColumns, transferKey } from '../records/transfer-columns.ts';

type Block = Explorer['Block'];
type Log = Explorer['Log'];
type Withdrawal = Explorer['AddressWithdrawal'];

/** Address whose records a list shows, on its chain. */
export interface ChainAddress {
  readonly chainId: number;
  readonly address: string;
}

type Direction = 'from' | 'to';

/** Transactions from and to an address, or in one direction. */
export function Transactions({ chainId, address }: ChainAddress): VNode {
  const [direction, setDirection] = useChoice('direction', DIRECTIONS);
  return html`
    ${h(Choices<Direction | undefined>, { label: 'Direction', choices: DIRECTIONS, chosen: direction, choose: setDirection })}
    ${recordList({
      label: 'Transactions of the address',
      growsWith: { kind: 'address', hash: address },
      columns: transactionColumns(chainId, { of: address }),
      keyOf: transactionKey,
      inputs: [direction],
      empty: 'No such transactions yet.',
      download: [
        'listAddressTransactions',
        { chain_id: chainId, address_hash: address, ...(direction && { filter: direction }) },
      ],
      load: (position: RecordCursor | undefined, signal) =>
        api.GET('/explorer/addresses/{address_hash}/transactions', {
          params: {
            path: { address_hash: address },
            query: { ...pageQuery(chainId, position), ...(direction && { filter: direction }) },
          },
          signal,
        }),
    })}
  `;
}

/** Internal transactions from and to an address, or in one direction. */
export function InternalTransactions({ chainId, address }: ChainAddress): VNode {
  const [direction, setDirection] = useChoice('direction', DIRECTIONS);
  return html`
    ${h(Choices<Direction | undefined>, { label: 'Direction', choices: DIRECTIONS, chosen: direction, choose: setDirection })}
    ${recordList({
      label: 'Internal transactions of the address',
      growsWith: { kind: 'address', hash: address },
      columns: internalColumns(chainId, { of: address }),
      keyOf: internalKey,
      inputs: [direction],
      empty: 'No such internal transactions yet.',
      download: [
        'listAddressInternalTransactions',
        { chain_id: chainId, address_hash: address, ...(direction && { filter: direction }) },
      ],
      load: (position: RecordCursor | undefined, signal) =>
        api.GET('/explorer/addresses/{address_hash}/internal-transactions', {
          params: {
            path: { address_hash: address },
            query: { ...pageQuery(chainId, position), ...(direction && { filter: direction }) },
          },
          signal,
        }),
    })}
  `;
}

const DIRECTIONS: readonly Choice<Direction | undefined>[] = [
  [undefined, 'All'],
  ['from', 'Sent'],
  ['to', 'Received'],
];

/** Token transfers from and to an address: in one direction, of one standard, of one token. */
export function TokenTransfers({ chainId, address }: ChainAddress): VNode {
  const [direction, setDirection] = useChoice('direction', DIRECTIONS);
  const [standard, setStandard] = useChoice('standard', STANDARDS);
  const token = useAddress().get('token') ?? undefined;
  const filters = { ...(direction && { filter: direction }), ...(token !== undefined && { token }) };
  return html`
    <div class="row">
      ${h(Choices<Direction | undefined>, { label: 'Direction', choices: DIRECTIONS, chosen: direction, choose: setDirection })}
      ${h(Choices<Standard | undefined>, { label: 'Standard', choices: STANDARDS, chosen: standard, choose: setStandard })}
      ${h(TokenFilter, { key: token, token })}
    </div>
    ${recordList({
      label: 'Token transfers of the address',
      growsWith: { kind: 'address', hash: address },
      columns: transferColumns(chainId, { of: address }),
      keyOf: transferKey,
      inputs: [direction, standard, token],
      empty: 'No such token transfers yet.',
      download: [
        'listAddressTokenTransfers',
        { chain_id: chainId, address_hash: address, ...filters, ...(standard && { type: [standard] }) },
      ],
      load: (position: RecordCursor | undefined, signal) =>
        api.GET('/explorer/addresses/{address_hash}/token-transfers', {
          params: {
            path: { address_hash: address },
            query: { ...pageQuery(chainId, position), ...filters, ...(standard && { type: [standard] }) },
          },
          signal,
        }),
    })}
  `;
}

type Standard = 'ERC-20' | 'ERC-721' | 'ERC-1155';

const STANDARDS: readonly Choice<Standard | undefined>[] = [
  [undefined, 'All standards'],
  ['ERC-20', 'ERC-20'],
  ['ERC-721', 'ERC-721'],
  ['ERC-1155', 'ERC-1155'],
];

/** Field for the address of the token to which a list is limited. */
function TokenFilter({ token }: { token: string | undefined }): VNode {
  const choose = (value: string | undefined) => changeAddress({ ...FIRST_PAGE, token: value });
  const submit = (event: SubmitEvent & { currentTarget: HTMLFormElement }) => {
    event.preventDefault();
    const value = new FormData(event.currentTarget).get('token');
    choose(typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined);
  };
  return html`<form class="row" role="search" aria-label="Token" onSubmit=${submit}>
    <input
      name="token"
      aria-label="Only transfers of this token"
      placeholder="Token address 0x…"
      pattern="\\s*0x[0-9a-fA-F]{40}\\s*"
      title="0x followed by 40 hexadecimal digits"
      value=${token}
    />
    <button type="submit">Filter</button>
    ${token !== undefined && html`<button type="button" onClick=${() => choose(undefined)}>All tokens</button>`}
  </form>`;
}

export function addressLogs({ chainId, address }: ChainAddress): VNode {
  return recordList({
    label: 'Logs of the contract',
    keyOf: logKey,
    view: (logs: readonly Log[]) => html`<ol class="entries">
      ${logs.map(log => html`<li key=${logKey(log)}>${h(LogEntry, { chainId, log })}</li>`)}
    </ol>`,
    empty: 'This contract has emitted no logs yet.',
    download: ['listAddressLogs', { chain_id: chainId, address_hash: address }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/logs', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

export function blocksValidated({ chainId, address }: ChainAddress): VNode {
  const columns: readonly Column<Block>[] = [
    { name: 'Block', cell: ({ height }) => blockCell(chainId, height) },
    ageColumn(({ timestamp }) => timestamp),
    { name: 'Transactions', isNumber: true, cell: ({ transaction_count }) => transaction_count },
    { name: 'Gas used', isNumber: true, cell: ({ gas_used }) => gas_used !== null && grouped(gas_used) },
    {
      name: 'Transaction fees',
      isNumber: true,
      cell: ({ transaction_fees: fees }) => fees !== null && h(CoinAmount, { chainId, amount: fees }),
    },
  ];
  return recordList({
    label: 'Blocks validated by the address',
    columns,
    keyOf: ({ hash }: Block) => hash,
    empty: 'This address has not validated a block yet.',
    download: ['listAddressBlocksValidated', { chain_id: chainId, address_hash: address }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/blocks-validated', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

export function addressWithdrawals({ chainId, address }: ChainAddress): VNode {
  const columns: readonly Column<Withdrawal>[] = [
    { name: 'Index', cell: ({ index }) => index },
    { name: 'Validator', cell: ({ validator_index }) => validator_index },
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    ageColumn(({ timestamp }) => timestamp),
    {
      name: 'Amount',
      isNumber: true,
      cell: ({ amount }) => h(CoinAmount, { chainId, amount }),
    },
  ];
  return recordList({
    label: 'Withdrawals of the address',
    columns,
    keyOf: ({ index }: Withdrawal) => String(index),
    empty: 'No withdrawals to this address yet.',
    download: ['listAddressWithdrawals', { chain_id: chainId, address_hash: address }],
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/withdrawals', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}
