import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { NATIVE_COIN } from '../model/payment-chain.ts';
import { type CheckoutSession, LIFE_ALLOWANCE } from '../model/session.ts';
import { select } from '../tables/select.ts';
import { endingEvents, endSessions, endSoldOut, reopenSessions } from './ended-sessions.ts';
import { type Move, type PaymentCase, withTotals } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';

/** Sessions of a chain that are past their deadline. */
export interface Due {
  readonly chainId: number;
  /** Latest deadline of the sessions, in UTC milliseconds. */
  readonly until: number;
  /**
   * Leaves sessions open that may have been paid in a block that is set aside, for a minute those that a contract may have
   * paid in a block whose traces are not read, and for half an hour those whose balance is not known yet.
   */
  readonly sparesUnread?: boolean;
  readonly limit: number;
}

/**
 * Time after which a session expires although its payment is confirming, on a chain without a watcher (Decision 144).
 */
const UNWATCHED_MS = 24 * 3_600_000;

/** A block in the time of a session that may contain its payment, but is not read. Logs may be of tokens and coins. */
const UNREAD_BLOCK = `select 1 from set_aside_blocks b
  where b.chain_id = checkout_sessions.chain_id and b.read_at is null
    and b.part = case when checkout_sessions.token_address <> ? or b.block_number >= (
      select coin_logs_from from chain_cursors c where c.chain_id = b.chain_id
    ) then 'tokens' else 'coins' end
    and b.block_time between checkout_sessions.created_at - ? and checkout_sessions.expires_at + ?`;

/** Time after their deadline for which sessions wait for the traces of its block. */
const TRACES_WAIT_MS = 60_000;

/** True while the traces of a chain that has some were not read up to the end of a session, for a limited time. */
const UNTRACED = `checkout_sessions.token_address = ? and checkout_sessions.expires_at > ?
  and exists (select 1 from chain_cursors c where c.chain_id = checkout_sessions.chain_id
    and c.traced_by is not null and (c.coin_logs_from is null or c.traced_block < c.coin_logs_from - 1)
    and c.traced_time < checkout_sessions.expires_at + ?)`;

/** Time after their deadline for which sessions wait for the balance of their address. It needs confirmations. */
const BALANCES_WAIT_MS = 30 * 60_000;

/** True while the balance of a deposit address is not known up to the end of its session, for a limited time. */
const WITHOUT_BALANCE = `checkout_sessions.deposit_address is not null and checkout_sessions.token_address = ?
  and checkout_sessions.expires_at > ?
  and exists (select 1 from chain_cursors c where c.chain_id = checkout_sessions.chain_id
    and c.balances_time < checkout_sessions.expires_at + ?)`;

/** Expiry of sessions without a payment. */
export function endings(unit: SettlementUnit) {
  const { handle, now } = unit;
  const { beforeMs, afterMs } = LIFE_ALLOWANCE;

  return {
    /** Ends one session on request. Undefined when it is not active, or its payment is being confirmed. */
    async expire(sessionId: string): Promise<CheckoutSession | undefined> {
      return (await endSessions(unit, 'merchant', { condition: 'id = ?', bindings: [sessionId] }))[0];
    },

    /**
     * Ends active sessions past their deadline, the oldest deadline first, and returns their number. Skips sessions
     * with a payment in confirmation.
     */
    async expireDue({ chainId, until, limit, sparesUnread = false }: Due): Promise<number> {
      const condition = `id in (
           select id from checkout_sessions
           where status = 'active' and payment_status <> 'confirming' and chain_id = ? and expires_at <= ?
             ${sparesUnread ? `and not exists (${UNREAD_BLOCK}) and not (${UNTRACED}) and not (${WITHOUT_BALANCE})` : ''}
           order by expires_at limit ?
         )`;
      const untraced = [NATIVE_COIN, now - afterMs - TRACES_WAIT_MS, afterMs];
      const unknown = [NATIVE_COIN, now - afterMs - BALANCES_WAIT_MS, afterMs];
      const spared = sparesUnread ? [NATIVE_COIN, beforeMs, afterMs, ...untraced, ...unknown] : [];
      const bindings = [chainId, Math.min(now, until), ...spared, limit];
      const ended = await endSessions(unit, 'time', { condition, bindings });
      return ended.length;
    },

    /**
     * Ends active sessions whose payment is being confirmed on a chain that is no longer configured, and returns their
     * number. This happens a day after their deadline, when the chain has not been scanned for a day. `scannedAt` is the
     * start of its latest scan, in UTC milliseconds.
     */
    async expireUnwatched({
      chainId,
      scannedAt,
      limit,
    }: Omit<Due, 'until'> & { readonly scannedAt: number }): Promise<number> {
      if (scannedAt > now - UNWATCHED_MS) return 0;
      const rows = await select({ from: 'checkout_sessions', columns: ['id'] }).rows(
        handle,
        `where status = 'active' and payment_status = 'confirming' and chain_id = ? and expires_at <= ?
         order by expires_at limit ?`,
        [chainId, now - UNWATCHED_MS, limit],
      );
      for (const { id } of rows) {
        const confirming = (await unit.transactions.ofSession(id)).filter(one => one.status === 'confirming');
        for (const one of confirming)
          await unit.write(expiredWhileConfirming(await unit.caseOf(one.id), now));
        await unit.events.insert(endingEvents(await unit.sessionOf(id), now));
      }
      return rows.length;
    },

    /** Detaches up to `limit` sessions from a link. The active ones among them end first, as in `endSessionsOf`. */
    async detachSessionsOf(linkId: string, limit: number): Promise<number> {
      const rows = await select({ from: 'checkout_sessions', columns: ['id'] }).rows(
        handle,
        'where payment_link_id = ? order by created_at limit ?',
        [linkId, limit],
      );
      if (rows.length === 0) return 0;
      const ids = rows.map(({ id }) => id);
      const condition = `id in (${placeholders(ids.length)})`;
      await endSessions(unit, 'link_deleted', { condition, bindings: ids });
      return execute(handle, `update checkout_sessions set payment_link_id = null where ${condition}`, ids);
    },

    /** Ends the active sessions of a link before its deletion, except those whose payment is being confirmed. */
    async endSessionsOf(linkId: string): Promise<number> {
      const ofLink = { condition: 'payment_link_id = ?', bindings: [linkId] };
      return (await endSessions(unit, 'link_deleted', ofLink)).length;
    },

    /** Ends a part of the sessions of a link without uses; returns their number. None when the link has uses. */
    endSoldOut: (linkId: string): Promise<number> => endSoldOut(unit, linkId),

    /** Opens the sessions of a link again that has uses again. */
    reopenSessionsOf: (linkId: string): Promise<void> => reopenSessions(unit, linkId),
  };
}

/**
 * Its session expires during confirmation, because the chain is no longer watched. The transaction stays confirming
 * and is late from now on.
 */
export function expiredWhileConfirming(paymentCase: PaymentCase, now: number): Move {
  const transaction = { ...paymentCase.transaction, isLate: true };
  const session = {
    ...paymentCase.session,
    status: 'expired' as const,
    endedReason: 'time' as const,
    endedAt: paymentCase.session.endedAt ?? now,
  };
  return { transaction, session: withTotals({ ...paymentCase, session, transaction }, now), events: [] };
}
