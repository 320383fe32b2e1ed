import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';

/**
 * True when a look at a chain has records to judge: payments and transfers that are not confirmed, and those that stand
 * in a block from this one on. One statement tells an idle chain, which else takes one for each kind.
 */
export async function hasRecordsToJudge(
  handle: Handle,
  chainId: number,
  blockNumber: number,
): Promise<boolean> {
  const found = await rowsOf(
    handle,
    `select 1 as found where
       exists (select 1 from transactions where chain_id = ? and status in ('pending', 'confirming'))
       or exists (select 1 from transactions where chain_id = ? and status = 'completed' and block_number >= ?)
       or exists (select 1 from unmatched_transfers where chain_id = ? and confirmed_at is null)
       or exists (select 1 from unmatched_transfers
                  where chain_id = ? and block_number >= ? and assigned_at is null)`,
    [chainId, chainId, blockNumber, chainId, chainId, blockNumber],
  );
  return found.length > 0;
}
