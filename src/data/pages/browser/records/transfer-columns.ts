import type { VNode } from 'preact';
import { h } from '#pages/browser/element.ts';
import { Badge } from '#pages/browser/layout.ts';
import type { Column } from '#pages/browser/table.ts';
import type { Explorer } from '../api.ts';
import { AddressReference } from './address-reference.ts';
import { ageColumn } from './age-column.ts';
import { TransferAmount } from './token-amount.ts';
import { blockCell, directionColumn, methodCell, TransactionReference } from './transaction-columns.ts';

/** A transfer of a list, or one within its transaction, which has no block number of its own. */
type Transfer = Explorer['EmbeddedTokenTransfer'] & Partial<Pick<Explorer['TokenTransfer'], 'block_number'>>;
type Token = Explorer['Token'];

/**
 * Columns of a list of token transfers. `isOfTransaction` omits the columns that all transfers of a transaction share.
 */
export function transferColumns(
  chainId: number,
  {
    of,
    token,
    isOfTransaction = false,
  }: {
    /** Address the list belongs to. */
    of?: string;
    /** Token the list belongs to, because its items do not repeat it. */
    token?: Token;
    isOfTransaction?: boolean;
  } = {},
): readonly Column<Transfer>[] {
  const position: readonly Column<Transfer>[] = [
    {
      name: 'Transaction',
      cell: ({ transaction_hash }) => h(TransactionReference, { chainId, hash: transaction_hash }),
    },
    { name: 'Method', cell: ({ method }) => methodCell(method) },
    { name: 'Block', cell: ({ block_number }) => blockCell(chainId, block_number) },
    ageColumn(({ timestamp }) => timestamp),
  ];
  return [
    ...(isOfTransaction ? [] : position),
    { name: 'Type', cell: ({ type }) => kindCell(type) },
    {
      name: 'From',
      cell: ({ from }) => h(AddressReference, { chainId, address: from }),
    },
    ...(of === undefined ? [] : [directionColumn<Transfer>(of)]),
    { name: 'To', cell: ({ to }) => h(AddressReference, { chainId, address: to }) },
    {
      name: 'Amount',
      isNumber: true,
      cell: ({ token: own, total }) => h(TransferAmount, { chainId, token: own ?? token ?? null, total }),
    },
  ];
}

/**
 * Key of a transfer in a list. It includes the token id, because an ERC-1155 batch writes one log for several
 * transfers.
 */
export function transferKey({ transaction_hash, log_index, total }: Transfer): string {
  const id = total !== null && 'token_id' in total ? total.token_id : '';
  return `${transaction_hash} ${log_index} ${id}`;
}

function kindCell(type: Transfer['type']): VNode {
  if (type === 'token_minting') return h(Badge, { tone: 'good', children: 'minted' });
  if (type === 'token_burning') return h(Badge, { tone: 'warning', children: 'burnt' });
  return h(Badge, { children: type === 'token_spawning' ? 'created' : 'transfer' });
}
