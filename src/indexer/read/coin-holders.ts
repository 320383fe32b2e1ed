import type { Address } from 'viem';
import { bytesColumn, hexOf, uintColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import type { Page } from './page.ts';

/** An address with coins. */
export interface CoinHolderRow {
  address: Address;
  /** In wei, above zero. */
  balance: bigint;
  /** Transactions that it sent, received or was created by. */
  transactionCount: number;
}

/** The order of the list: by balance, then by address, both descending. */
export type CoinHolderPlace = Pick<CoinHolderRow, 'address' | 'balance'>;

const NOTHING = uintColumn(0n);
/** Sorts behind every balance: no number of digits is written like this. */
const MORE_THAN_ALL = ':';

/** Whoever is known to hold coins, the richest first. */
export async function coinHolders(
  handle: Handle,
  { before, limit }: { before?: CoinHolderPlace; limit: number },
): Promise<Page<CoinHolderRow>> {
  const rows = await handle.raw<{ address: Buffer; balance: string; transactions: number | null }[]>(
    `select a.address, a.balance,
       (select transactions from transaction_counts c where c.address = a.address) as transactions
     from addresses a where (a.balance, a.address) < (?, ?) and a.balance > ?
     order by a.balance desc, a.address desc limit ?`,
    [
      before === undefined ? MORE_THAN_ALL : uintColumn(before.balance),
      before === undefined ? Buffer.alloc(0) : bytesColumn(before.address),
      NOTHING,
      limit + 1,
    ],
  );
  const items = rows.slice(0, limit).map(row => ({
    address: hexOf(row.address),
    balance: uintOf(row.balance),
    transactionCount: row.transactions ?? 0,
  }));
  return { items, hasMore: rows.length > limit };
}
