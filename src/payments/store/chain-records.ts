import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import { select } from '../tables/select.ts';

/** The stored block of a record. It is null until it was seen. */
export interface RecordedBlock {
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
}

const BLOCKS = select({
  computed: { block_number: ['count?', 'block_number'], block_hash: ['text?', 'block_hash'] },
});

/**
 * Distinct blocks from this number on with completed payments, listed unassigned transfers, or records that are set
 * aside.
 */
export async function settledBlocks(
  handle: Handle,
  chainId: number,
  blockNumber: number,
): Promise<RecordedBlock[]> {
  const rows = await BLOCKS.rows(
    handle,
    `from (select block_number, block_hash from transactions
     where chain_id = ? and status = 'completed' and block_number >= ? and balance_block is null
     union select block_number, block_hash from unmatched_transfers
     where chain_id = ? and block_number >= ? and assigned_at is null and confirmed_at is not null
     union select block_number, block_hash from transactions t
     where chain_id = ? and status = 'confirming' and block_number >= ? and ${IS_SET_ASIDE}
     union select block_number, block_hash from unmatched_transfers t
     where chain_id = ? and block_number >= ? and confirmed_at is null and ${IS_SET_ASIDE}) as settled`,
    Array.from({ length: 4 }, () => [chainId, blockNumber]).flat(),
  );
  return rows.map(row => ({ blockNumber: row.block_number, blockHash: row.block_hash }));
}

/** Condition that the chain transaction of a row `t` is set aside. */
const IS_SET_ASIDE = `exists (
  select 1 from set_aside_transactions s where s.chain_id = t.chain_id and s.tx_hash = t.tx_hash
)`;

/**
 * Condition that the chain transaction of a row `t` is not set aside until later than the bound time (UTC
 * milliseconds).
 */
export const IS_NOT_SET_ASIDE = `not exists (
  select 1 from set_aside_transactions s
  where s.chain_id = t.chain_id and s.tx_hash = t.tx_hash and s.next_attempt_at > ?
)`;

/** Selection of what is due at the head of a look. */
export interface DueAtHead {
  readonly chainId: number;
  readonly headBlock: number;
  /** UTC milliseconds. Transactions that are set aside until later are not due. */
  readonly now: number;
  readonly limit: number;
}

/**
 * True when a look at a chain has records to check: unconfirmed payments and transfers, and settled ones from this
 * block on. On an idle chain this one statement replaces one for each kind.
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
