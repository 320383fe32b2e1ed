import type { Hash } from 'viem';
import { bytesColumn } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';

/** The key that a transaction's logs, transfers and calls point at; null when it is in no canonical block. */
export async function transactionKey(handle: Handle, hash: Hash): Promise<number | null> {
  const [row] = await handle.raw<{ id: number }[]>('select id from transactions where hash = ?', [
    bytesColumn(hash),
  ]);
  return row?.id ?? null;
}
