import { html } from 'htm/preact';
import type { VNode } from 'preact';
import { grouped } from '#pages/browser/amounts.ts';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import { Ago } from '#pages/browser/moment.ts';
import { clipped, Reference } from '#pages/browser/reference.ts';
import type { Column } from '#pages/browser/table.ts';
import { type Explorer, pageOf } from '../api.ts';
import { AddressReference, Direction } from './address-reference.ts';
import { ageColumn } from './age-column.ts';
import { CoinAmount } from './coin.ts';

type Transaction = Explorer['Transaction'];

const METHOD_CHARACTERS = 24;

/** Columns of a list of transactions. `of` is the address the list belongs to; `isOfBlock` omits the block. */
export function transactionColumns(
  chainId: number,
  { of, isOfBlock = false }: { of?: string; isOfBlock?: boolean } = {},
): readonly Column<Transaction>[] {
  const position: readonly Column<Transaction>[] = [
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    ageColumn(({ timestamp }) => timestamp),
  ];
  return [
    {
      name: 'Transaction',
      cell: transaction =>
        html`${h(TransactionReference, { chainId, hash: transaction.hash })} ${transaction.status !== 'ok' && h(TransactionStatus, { transaction })}`,
    },
    { name: 'Method', cell: ({ method, to }) => methodCell(method, to === null) },
    ...(isOfBlock ? [] : position),
    {
      name: 'From',
      cell: ({ from }) => h(AddressReference, { chainId, address: from }),
    },
    ...(of === undefined ? [] : [directionColumn(of)]),
    {
      name: 'To',
      cell: ({ to, created_contract }) => receiverCell(chainId, to, created_contract),
    },
    {
      name: 'Value',
      isNumber: true,
      cell: ({ value, exchange_rate: rate }) => h(CoinAmount, { chainId, amount: value, rate }),
    },
    {
      name: 'Fee',
      isNumber: true,
      cell: ({ fee, exchange_rate: rate }) =>
        fee.value !== null && h(CoinAmount, { chainId, amount: fee.value, rate }),
    },
  ];
}

/** Key of a transaction in a list. */
export const transactionKey = ({ hash }: Transaction) => hash;

/** Transaction hash as a link to its page. */
export function TransactionReference({ chainId, hash }: { chainId: number; hash: string }): VNode {
  return h(Reference, { value: hash, href: pageOf.transaction(chainId, hash) });
}

/**
 * Outcome of a transaction in a word or two. Its block may be known and its outcome not. `isRemoved` is true for one
 * that is no longer on the chain.
 */
export function TransactionStatus({
  transaction: { status, block_number },
  isRemoved = false,
}: {
  transaction: Pick<Transaction, 'status' | 'block_number'>;
  isRemoved?: boolean;
}): VNode {
  if (isRemoved) return h(Badge, { children: 'Removed' });
  if (status === 'ok') return h(Badge, { tone: 'good', children: 'Success' });
  if (status === 'error') return h(Badge, { tone: 'bad', children: 'Failed' });
  return h(Badge, { tone: 'busy', children: block_number === null ? 'Pending' : 'Status unknown' });
}

/** Name of the called method; null for a plain transfer. */
export function methodCell(method: string | null | undefined, isCreation = false): VNode | null {
  if (isCreation) return h(Badge, { children: 'contract creation' });
  return method == null ? null : h(Badge, { children: clipped(method, METHOD_CHARACTERS) });
}

/** Block number as a link to its page; a dash while it is unknown. */
export function blockCell(chainId: number, block: number | null | undefined): VNode {
  if (block == null) return html`<span>–</span>`;
  return html`<a href=${pageOf.block(chainId, block)}>${grouped(block)}</a>`;
}

/** Age of a record; a dash if its time is unknown. */
export function ageCell(timestamp: string | null | undefined): VNode {
  return timestamp == null ? html`<span>–</span>` : h(Ago, { at: timestamp });
}

/** Receiver of a call, or the contract it created. */
export function receiverCell(
  chainId: number,
  to: Explorer['Address'] | null,
  created: Explorer['Address'] | null,
): VNode {
  const address = to ?? created;
  if (address === null) return html`<span>–</span>`;
  return html`${h(AddressReference, { chainId, address })}${to === null && html` ${h(Badge, { children: 'created' })}`}`;
}

/** Column with the direction of records, seen from one address. */
export function directionColumn<
  Item extends { readonly from: Explorer['Address']; readonly to: Explorer['Address'] | null },
>(of: string): Column<Item> {
  return {
    name: 'Direction',
    cell: ({ from, to }) => h(Direction, { of, from, to }),
  };
}
