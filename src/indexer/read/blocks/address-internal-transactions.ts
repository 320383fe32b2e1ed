import type { Address } from 'viem';
import { bytesColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { type Page, pageKeys } from '../page.ts';
import { firstPlace, type InternalTransactionRow, rowsOf, type TracePlace } from './internal-transactions.ts';

export interface AddressInternalQuery {
  address: Address;
  /** `to` includes the creation of the address; both when absent. Decision 44. */
  direction?: 'from' | 'to';
  before?: TracePlace;
  limit: number;
}

const COLUMNS = { from: ['from_address'], to: ['to_address', 'created_contract'] } as const;

/** Internal transactions that an address made or that were made to it, newest first, each once. */
export async function addressInternalTransactions(
  handle: Handle,
  { address, direction, before, limit }: AddressInternalQuery,
): Promise<Page<InternalTransactionRow>> {
  const columns = direction === undefined ? [...COLUMNS.from, ...COLUMNS.to] : COLUMNS[direction];
  const branches = columns.map(column => ({ where: `${column} = ?`, bindings: [bytesColumn(address)] }));
  return rowsOf(
    handle,
    await pageKeys(handle, {
      table: 'internal_transactions',
      branches,
      limit,
      ...(before === undefined ? {} : { before: await firstPlace(handle, before) }),
    }),
  );
}
