import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import type { Column } from '#pages/browser/list.ts';
import { clipped } from '#pages/browser/reference.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from './address-reference.ts';
import { CoinAmount } from './coin.ts';
import {
  ageCell,
  blockCell,
  directionColumn,
  receiverCell,
  TransactionReference,
} from './transaction-columns.ts';

type InternalTransaction = Explorer['InternalTransaction'];

/** Columns of a list of internal transactions. `isOfBlock` omits the block; `of` is the address the list belongs to. */
export function internalColumns(
  chainId: number,
  { of, isOfBlock = false }: { of?: string; isOfBlock?: boolean } = {},
): readonly Column<InternalTransaction>[] {
  const position: readonly Column<InternalTransaction>[] = [
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    { name: 'Age', cell: ({ timestamp }) => ageCell(timestamp) },
  ];
  return [
    {
      name: 'Transaction',
      cell: ({ transaction_hash }) => h(TransactionReference, { chainId, hash: transaction_hash }),
    },
    { name: 'Type', cell: ({ type, error }) => callKind(type, error) },
    ...(isOfBlock ? [] : position),
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

/** Kind of a call, with its error if it failed. Coins that a log of the chain names moved by an unknown kind of call. */
function callKind(kind: string | null, error: string | null | undefined): VNode {
  return html`${h(Badge, { children: clipped(kind ?? 'transfer') })}${error != null && html` ${h(Badge, { tone: 'bad', children: clipped(error) })}`}`;
}
