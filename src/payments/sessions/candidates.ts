import { uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { insertRows, placeholders } from '../../db/rows.ts';
import type { RowIn } from '../../db/select/select.ts';
import { select } from '../tables/select.ts';
import { HAS_NO_REFUND } from './open-transfers.ts';

/** An unmatched transfer that could be a session's payment. */
export interface PossiblePayment {
  readonly amount: bigint;
  /** True when it could be of no other session. */
  readonly isOnly: boolean;
  /** Up to those that the session requires. */
  readonly confirmations: number;
}

/** A transfer, and the sessions whose payers see it, the likeliest first. */
export interface CandidateSessions {
  readonly transferId: string;
  readonly sessionIds: readonly string[];
}

/** Most candidates that a payer sees, and that are kept for a session. */
const MAX_SHOWN = 3;
const MAX_KEPT = 20;

/** Rank of a transfer that the payer named, before those that were found by their amount. */
const NAMED_RANK = 0;

const KEPT = select({ from: 'transfer_candidates', columns: ['session_id'] });
const SHOWN = select({
  from: 'transfer_candidates c',
  join: ['unmatched_transfers t on t.id = c.transfer_id', 'checkout_sessions s on s.id = c.session_id'],
  leftJoin: ['chain_cursors h on h.chain_id = t.chain_id'],
  columns: ['c.session_id', 'c.is_only', 't.amount', 't.confirmed_at', 's.required_confirmations'],
  computed: { blocks: ['count', 'coalesce(h.block_number - t.block_number, 0)'] },
});

/** Candidates of sessions (Decision 342). Those of a transfer end with its record, when it is matched or dropped. */
export function candidateStore(handle: Handle) {
  async function keep(rows: readonly (readonly [string, string, number, boolean])[]): Promise<void> {
    const sessionIds = [...new Set(rows.map(([, sessionId]) => sessionId))];
    if (sessionIds.length === 0) return;
    const known = await KEPT.rows(
      handle,
      `where session_id in (${placeholders(sessionIds.length)})`,
      sessionIds,
    );
    const counts = new Map<string, number>();
    const count = (sessionId: string) => counts.get(sessionId) ?? 0;
    for (const { session_id: id } of known) counts.set(id, count(id) + 1);
    const fitting = rows.filter(([, sessionId]) => {
      counts.set(sessionId, count(sessionId) + 1);
      return count(sessionId) <= MAX_KEPT;
    });
    const into = {
      table: 'transfer_candidates',
      columns: ['transfer_id', 'session_id', 'match_rank', 'is_only'],
      // A transfer that could be of one session alone when it was seen may be of several when it is confirmed.
      suffix: `on conflict (transfer_id, session_id)
        do update set is_only = transfer_candidates.is_only and excluded.is_only`,
    };
    await insertRows(handle, into, fitting);
  }

  return {
    /** Keeps the candidates of transfers that were just seen or confirmed. A session keeps its first ones. */
    add: (transfers: readonly CandidateSessions[]): Promise<void> =>
      keep(
        transfers.flatMap(({ transferId, sessionIds }) =>
          sessionIds.map(
            (sessionId, index) => [transferId, sessionId, index + 1, sessionIds.length === 1] as const,
          ),
        ),
      ),

    /** Keeps transfers that the payer of a session named. Others may be meant as well. */
    addNamed: (sessionId: string, transferIds: readonly string[]): Promise<void> =>
      keep(transferIds.map(transferId => [transferId, sessionId, NAMED_RANK, false] as const)),

    /** Candidates that the payers of sessions see, by session id, the likeliest first. */
    async ofSessions(
      sessionIds: readonly string[],
    ): Promise<ReadonlyMap<string, readonly PossiblePayment[]>> {
      if (sessionIds.length === 0) return new Map();
      const rows = await SHOWN.rows(
        handle,
        `where c.session_id in (${placeholders(sessionIds.length)})
           and t.assigned_at is null and t.dismissed_at is null and ${HAS_NO_REFUND}
         order by c.match_rank, t.block_time, t.id`,
        sessionIds,
      );
      const bySession = Map.groupBy(rows, row => row.session_id);
      return new Map(
        [...bySession].map(([id, some]) => [
          id,
          some.slice(0, MAX_SHOWN).map(row => ({
            amount: uintOf(row.amount),
            isOnly: Boolean(row.is_only),
            confirmations: confirmationsOf(row),
          })),
        ]),
      );
    },
  };
}

function confirmationsOf({
  blocks,
  confirmed_at: confirmedAt,
  required_confirmations: required,
}: RowIn<typeof SHOWN>): number {
  return confirmedAt === null ? Math.min(Math.max(blocks, 0), required) : required;
}
