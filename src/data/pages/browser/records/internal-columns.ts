import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { clipped } from '#pages/browser/reference.ts';
import type { Column } from '#pages/browser/table.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from './address-reference.ts';
import { ageColumn } from './age-column.ts';
import { CoinAmount } from './coin.ts';
import { blockCell, directionColumn, receiverCell, TransactionReference } from './transaction-columns.ts';

type InternalTransaction = Explorer['InternalTransaction'];

/**
 * Columns of a list of internal transactions. `of` is the address that the list belongs to, `within` the record whose page
 * it is on: a block, which is then left out, or a transaction, which is left out too.
 */
export function internalColumns(
  chainId: number,
  { of, within }: { of?: string; within?: 'block' | 'transaction' } = {},
): readonly Column<InternalTransaction>[] {
  const position: readonly Column<InternalTransaction>[] = [
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    ageColumn(({ timestamp }) => timestamp),
  ];
  const transaction: Column<InternalTransaction> = {
    name: 'Transaction',
    cell: ({ transaction_hash }) => h(TransactionReference, { chainId, hash: transaction_hash }),
  };
  return [
    ...(within === 'transaction' ? [] : [transaction]),
    { name: 'Type', cell: callKind },
    ...(within === undefined ? position : []),
    {
      name: 'From',
      cell: ({ from }) => h(AddressReference, { chainId, address: from }),
    },
    ...(of === undefined ? [] : [directionColumn<InternalTransaction>(of)]),
    { name: 'To', cell: ({ to, created_contract }) => receiverCell(chainId, to, created_contract) },
    {
      name: 'Value',
      isNumber: true,
      cell: ({ value }) => h(CoinAmount, { chainId, amount: value }),
    },
    {
      name: 'Gas limit',
      isNumber: true,
      cell: ({ gas_limit }) => gas_limit !== null && grouped(gas_limit),
    },
  ];
}

/** Key of an internal transaction in a list. */
export const internalKey = ({ transaction_hash, index }: InternalTransaction) =>
  `${transaction_hash} ${index}`;

/** Kind of a call, with its error if it failed. A log of the chain says that coins moved, and not by which kind of call. */
function callKind({ type, to, error }: InternalTransaction): VNode {
  const kind = type ?? (to === null ? 'burn' : 'transfer');
  return html`${h(Badge, { children: clipped(kind) })}${type === null && html` <span class="small">from a log</span>`}${error !== null && html` ${h(Badge, { tone: 'bad', children: clipped(error) })}`}`;
}
