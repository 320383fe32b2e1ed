import type { Tables } from 'knex/types/tables.js';
import { exactInteger } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import type { Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { announce } from '../../db/woken-worker.ts';
import type { Owner } from '../model/owner.ts';
import { watcherName } from '../model/payment-chain.ts';
import type { SetAsideTransaction } from '../model/set-aside.ts';
import { select } from '../tables/select.ts';
import {
  allOf,
  countOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  paged,
} from './list-query.ts';

/** Filters of set-aside transactions. */
interface SetAsideFilters {
  readonly chainId?: number | undefined;
  readonly sessionId?: string | undefined;
}

type SetAsideRow = Tables['set_aside_transactions'];

/** Most sessions that a record names. */
const SESSIONS_SHOWN = 10;
/** Least time between two attempts, however often a retry is asked for. */
const LEAST_PAUSE_MS = 10_000;

/** Set-aside transactions with payments or unmatched transfers of one organization (Decision 290). */
export function setAsideList(handle: Handle, owner: Owner) {
  const ofOwner = [owner.organizationId, owner.mode] as const;

  function matching({ chainId, sessionId }: SetAsideFilters): Sql {
    return allOf([
      { sql: IS_OF_OWNER, bindings: [...ofOwner, ...ofOwner] },
      optionalCondition('chain_id = ?', chainId),
      optionalCondition(IS_OF_SESSION, sessionId),
    ]);
  }

  /** Sessions that wait for these transactions. */
  async function sessionsOf(hashes: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const rows = await select({
      from: 'transactions',
      isDistinct: true,
      columns: ['chain_id', 'tx_hash', 'session_id'],
    }).rows(
      handle,
      `where status = 'confirming' and organization_id = ? and mode = ? and tx_hash in (${placeholders(hashes.length)})
       order by session_id`,
      [...ofOwner, ...hashes],
    );
    const byKey = Map.groupBy(rows, keyOf);
    return new Map([...byKey].map(([key, some]) => [key, some.map(one => one.session_id)]));
  }

  /** Numbers of unmatched transfers of these transactions. */
  async function transfersOf(hashes: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await select({
      from: 'unmatched_transfers',
      columns: ['chain_id', 'tx_hash'],
      computed: { total: ['count', 'count(*)'] },
    }).rows(
      handle,
      `where confirmed_at is null and organization_id = ? and mode = ? and tx_hash in (${placeholders(hashes.length)})
       group by chain_id, tx_hash`,
      [...ofOwner, ...hashes],
    );
    return new Map(rows.map(row => [keyOf(row), exactInteger(row.total)]));
  }

  function makeDue(
    table: 'set_aside_transactions' | 'set_aside_blocks',
    { sql, bindings }: Sql,
    now: number,
  ): Promise<{ chain_id: number }[]> {
    return select({ from: table, columns: ['chain_id'] }).changed(
      handle,
      `update ${table}
       set next_attempt_at = case when attempted_at > ? then attempted_at + ${LEAST_PAUSE_MS} else ? end
       where next_attempt_at > ? and ${sql}`,
      [now - LEAST_PAUSE_MS, now, now, ...bindings],
    );
  }

  return {
    /** Newest first. */
    async list(filters: SetAsideFilters, page: ListPageRequest): Promise<ListPage<SetAsideTransaction>> {
      const query = {
        table: 'set_aside_transactions',
        where: matching(filters),
        order: 'set_aside_at desc, id desc',
      } as const;
      const found = await paged(handle, query, page, row => row);
      if (found.data.length === 0) return { ...found, data: [] };
      const hashes = found.data.map(row => row.tx_hash);
      const [sessions, transfers] = [await sessionsOf(hashes), await transfersOf(hashes)];
      return {
        ...found,
        data: found.data.map(row => ({
          ...recordOf(row),
          sessionIds: (sessions.get(keyOf(row)) ?? []).slice(0, SESSIONS_SHOWN),
          unmatchedTransfers: transfers.get(keyOf(row)) ?? 0,
        })),
      };
    },

    /**
     * Makes all due, and the blocks that are set aside on chains of the organization's sessions. Wakes the watchers of
     * these chains. Returns the number of transactions. `now` is UTC milliseconds.
     */
    async retry(now: number): Promise<number> {
      const { sql, bindings } = matching({});
      const rows = [
        ...(await makeDue('set_aside_transactions', { sql, bindings }, now)),
        ...(await makeDue('set_aside_blocks', { sql: IS_ON_CHAIN_OF_OWNER, bindings: ofOwner }, now)),
      ];
      for (const chainId of new Set(rows.map(row => row.chain_id))) announce(handle, watcherName(chainId));
      return countOf(handle, 'set_aside_transactions', { sql, bindings });
    },
  };
}

const IS_OF_OWNER = `exists (
    select 1 from transactions t where t.status = 'confirming' and t.chain_id = set_aside_transactions.chain_id
      and t.tx_hash = set_aside_transactions.tx_hash and t.organization_id = ? and t.mode = ?
  ) or exists (
    select 1 from unmatched_transfers u where u.confirmed_at is null and u.chain_id = set_aside_transactions.chain_id
      and u.tx_hash = set_aside_transactions.tx_hash and u.organization_id = ? and u.mode = ?
  )`;
const IS_ON_CHAIN_OF_OWNER = `read_at is null and chain_id in (
    select chain_id from watched_recipients where organization_id = ? and mode = ?
  )`;
const IS_OF_SESSION = `exists (
    select 1 from transactions t where t.status = 'confirming' and t.chain_id = set_aside_transactions.chain_id
      and t.tx_hash = set_aside_transactions.tx_hash and t.session_id = ?
  )`;

function keyOf({ chain_id, tx_hash }: { chain_id: number; tx_hash: string | null }): string {
  return `${chain_id} ${tx_hash}`;
}

function recordOf(row: SetAsideRow): Omit<SetAsideTransaction, 'sessionIds' | 'unmatchedTransfers'> {
  return {
    id: row.id,
    chainId: row.chain_id,
    txHash: row.tx_hash,
    reason: row.reason,
    attempts: row.attempts,
    setAsideAt: row.set_aside_at,
    attemptedAt: row.attempted_at,
    nextAttemptAt: row.next_attempt_at,
  };
}
