import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import type { Column } from '#pages/browser/table.ts';
import { api, type Explorer } from '../api.ts';
import { type Choice, Choices } from '../records/choices.ts';
import { CoinAmount } from '../records/coin.ts';
import { internalColumns, internalKey } from '../records/internal-columns.ts';
import { LogEntry, logKey } from '../records/log-entry.ts';
import { pageQuery, type RecordCursor, recordList } from '../records/record-list.ts';
import { ageCell, blockCell, transactionColumns, transactionKey } from '../records/transaction-columns.ts';
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
  const [direction, setDirection] = useState<Direction>();
  return html`
    ${h(Choices<Direction | undefined>, { label: 'Direction', choices: DIRECTIONS, chosen: direction, choose: setDirection })}
    ${recordList({
      label: 'Transactions of the address',
      growsWith: { kind: 'address', hash: address },
      columns: transactionColumns(chainId, { of: address }),
      keyOf: transactionKey,
      inputs: [direction],
      empty: 'No such transactions yet.',
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
  const [direction, setDirection] = useState<Direction>();
  return html`
    ${h(Choices<Direction | undefined>, { label: 'Direction', choices: DIRECTIONS, chosen: direction, choose: setDirection })}
    ${recordList({
      label: 'Internal transactions of the address',
      growsWith: { kind: 'address', hash: address },
      columns: internalColumns(chainId, { of: address }),
      keyOf: internalKey,
      inputs: [direction],
      empty: 'No such internal transactions yet.',
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

export function addressTransfers({ chainId, address }: ChainAddress): VNode {
  return recordList({
    label: 'Token transfers of the address',
    growsWith: { kind: 'address', hash: address },
    columns: transferColumns(chainId, { of: address }),
    keyOf: transferKey,
    empty: 'No token transfers from or to this address yet.',
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/token-transfers', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}

export function addressLogs({ chainId, address }: ChainAddress): VNode {
  return recordList({
    label: 'Logs of the contract',
    keyOf: logKey,
    view: (logs: readonly Log[]) => html`<ol class="entries">
      ${logs.map(log => html`<li key=${logKey(log)}>${h(LogEntry, { chainId, log })}</li>`)}
    </ol>`,
    empty: 'This contract has emitted no logs yet.',
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
    { name: 'Age', cell: ({ timestamp }) => ageCell(timestamp) },
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
    { name: 'Age', cell: ({ timestamp }) => ageCell(timestamp) },
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
    load: (position: RecordCursor | undefined, signal) =>
      api.GET('/explorer/addresses/{address_hash}/withdrawals', {
        params: { path: { address_hash: address }, query: pageQuery(chainId, position) },
        signal,
      }),
  });
}
