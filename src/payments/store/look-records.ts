import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { HASH_SEARCH_MS } from '../model/transfer.ts';
import type { StatementColumns } from '../tables/computed-columns.ts';
import { type ChainProgress, type CursorRow, PROGRESS_COLUMNS, progressOf } from './cursor-store.ts';
import { type PaidAddressRow, paidAddressFrom } from './watched-store.ts';

/** State of a chain at the beginning of a look. */
export interface LookRecords {
  /** True while a session or refund on the chain waits for its transfer, or a payment for its confirmations. */
  readonly isOpen: boolean;
  /** True when the chain has refunds that are not cancelled. */
  readonly hasRefunds: boolean;
  /** True when a payer has reported a hash that is to be looked up. */
  readonly hasReports: boolean;
  /** True when deposit addresses were ever issued on the chain. */
  readonly hasDeposits: boolean;
  /** True when a set-aside transaction or block is to be asked for again, or a deposit address to be looked at. */
  readonly isRetryDue: boolean;
  /** Undefined for a chain that was never scanned. */
  readonly progress: ChainProgress | undefined;
  /** Distinct recipients that no watcher has read yet. */
  readonly unread: readonly PaidAddress[];
}

type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null };
/** One row per unread recipient, or a single row without one. */
type LookRow = Pick<StatementColumns, 'is_open' | 'is_due' | 'has_refunds' | 'has_reports' | 'has_deposits'> &
  Nullable<CursorRow & PaidAddressRow>;

/** Reads with one statement at `now` (UTC milliseconds), because every look needs it: on PostgreSQL a statement is a round trip and a commit. */
export async function lookRecords(handle: Handle, chainId: number, now: number): Promise<LookRecords> {
  const rows = await rowsOf<LookRow>(
    handle,
    `select case when exists (select 1 from checkout_sessions where status = 'active' and chain_id = ?)
         or exists (select 1 from transactions where status in ('pending', 'confirming') and chain_id = ?)
         or exists (select 1 from refunds where status in ('requires_action', 'pending') and chain_id = ?)
         then 1 else 0 end as is_open,
       case when exists (select 1 from set_aside_transactions where chain_id = ? and next_attempt_at <= ?)
         or exists (select 1 from set_aside_blocks where chain_id = ? and next_attempt_at <= ? and read_at is null)
         or exists (select 1 from deposit_addresses where chain_id = ? and next_look_at <= ?)
         then 1 else 0 end as is_due,
       case when exists (select 1 from refunds where status in ('requires_action', 'pending') and chain_id = ?)
         or exists (select 1 from refunds where status = 'completed' and chain_id = ?)
         then 1 else 0 end as has_refunds,
       case when exists (select 1 from reported_hashes where status = 'searching' and chain_id = ? and asked_at > ?)
         then 1 else 0 end as has_reports,
       case when exists (select 1 from deposit_addresses where chain_id = ?) then 1 else 0 end as has_deposits,
       ${PROGRESS_COLUMNS.join(', ')}, token_address, recipient_address
     from (select 1) as look
     left join (select * from chain_cursors where chain_id = ?) as progress on 1 = 1
     left join (select distinct token_address, recipient_address from watched_recipients
                where chain_id = ? and read_at is null) as unread on 1 = 1`,
    [
      ...[chainId, chainId, chainId],
      ...[chainId, now, chainId, now, chainId, now],
      ...[chainId, chainId],
      ...[chainId, now - HASH_SEARCH_MS],
      chainId,
      ...[chainId, chainId],
    ],
  );
  const [first] = rows;
  return {
    isOpen: first?.is_open === 1 || first?.has_reports === 1,
    hasRefunds: first?.has_refunds === 1,
    hasReports: first?.has_reports === 1,
    hasDeposits: first?.has_deposits === 1,
    isRetryDue: first?.is_due === 1,
    progress: first === undefined || !hasCursor(first) ? undefined : progressOf(first),
    unread: rows.flatMap(row => (hasAddress(row) ? [paidAddressFrom(chainId, row)] : [])),
  };
}

function hasCursor(row: LookRow): row is LookRow & CursorRow {
  return row.block_number !== null && row.scanned_at !== null;
}

function hasAddress(row: LookRow): row is LookRow & PaidAddressRow {
  return row.token_address !== null && row.recipient_address !== null;
}
