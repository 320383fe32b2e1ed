import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { announce } from '../../db/woken-worker.ts';
import { isRound } from '../amounts/token-amount.ts';
import type { Owner } from '../model/owner.ts';
import { type DepositAddress, watcherName } from '../model/payment-chain.ts';
import type { CheckoutSession, SessionState, SessionStatus } from '../model/session.ts';
import { recipientStore } from '../recipients/recipient-store.ts';
import type { Seals } from '../secrets/sealed.ts';
import { allOf, given, type ListPage, oneOf, ownedBy, type Page, paged } from '../store/list-query.ts';
import { watchedStore } from '../store/watched-store.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import { freeAmount, isPrice, type OwnPlace } from './amounts-due.ts';
import type { SessionDraft } from './opening.ts';
import {
  bindingsOf,
  OF_PLACE,
  progressValues,
  STATE_COLUMNS,
  sessionOf,
  sessionValues,
  stateOf,
} from './session-rows.ts';

export type { SessionDraft } from './opening.ts';

/** What a list of sessions is narrowed to. Times are UTC milliseconds of creation: from this one, to before that one. */
interface SessionFilters {
  readonly status?: SessionStatus | undefined;
  readonly paymentLinkId?: string | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** The checkout sessions. What customers wrote is sealed. */
export type SessionStore = ReturnType<typeof sessionStore>;

export function sessionStore(handle: Handle, seals: Seals) {
  const opened = (row: SessionRow) => sessionOf(row, seals);
  const findWhere = async ({ sql, bindings }: Sql): Promise<CheckoutSession | undefined> => {
    const [row] = await rowsOf<SessionRow>(handle, `select * from checkout_sessions where ${sql}`, bindings);
    return row && opened(row);
  };
  const findById = (id: string) => findWhere({ sql: 'id = ?', bindings: [id] });

  return {
    /**
     * Opens a session with a random free amount of its place, and has its recipient watched; when no amount is free only
     * a wallet that signed can pay. Wants a transaction: two that take one amount are in each other's way.
     */
    open: (draft: SessionDraft): Promise<CheckoutSession> => openSession(handle, seals, draft),

    find: (owner: Owner, id: string): Promise<CheckoutSession | undefined> => findWhere(oneOf(owner, id)),

    /** Whoever owns it: for the payer, who knows its id, and the watcher. */
    findById,

    /** By id, whoever owns them: for ids that were read from the caller's own records. */
    async findMany(ids: readonly string[]): Promise<Map<string, CheckoutSession>> {
      if (ids.length === 0) return new Map();
      const sql = `select * from checkout_sessions where id in (${placeholders(ids.length)})`;
      const rows = await rowsOf<SessionRow>(handle, sql, ids);
      return new Map(rows.map(row => [row.id, opened(row)]));
    },

    /** The wallets of sessions, by session id, without opening what customers wrote. */
    async payersOf(ids: readonly string[]): Promise<Map<string, string | null>> {
      if (ids.length === 0) return new Map();
      const rows = await rowsOf<Pick<SessionRow, 'id' | 'payer_address'>>(
        handle,
        `select id, payer_address from checkout_sessions where id in (${placeholders(ids.length)})`,
        ids,
      );
      return new Map(rows.map(row => [row.id, row.payer_address]));
    },

    /** When a client's open sessions that no wallet signed end, the first `limit` after `now`. UTC milliseconds. */
    async endsOfClient(
      clientHash: string,
      { now, limit }: { now: number; limit: number },
    ): Promise<number[]> {
      const rows = await rowsOf<Pick<SessionRow, 'expires_at'>>(
        handle,
        `select expires_at from checkout_sessions
         where client_hash = ? and status = 'active' and payer_address is null and expires_at > ?
         order by expires_at limit ${limit}`,
        [clientHash, now],
      );
      return rows.map(row => row.expires_at);
    },

    /** The newest first. */
    list(owner: Owner, filters: SessionFilters, page: Page): Promise<ListPage<CheckoutSession>> {
      const where = matching(owner, filters);
      return paged(
        handle,
        { table: 'checkout_sessions', where, order: 'created_at desc, id desc' },
        page,
        opened,
      );
    },

    /** Writes all that changes after opening; for the settlement only, which tells of it. */
    async update(session: CheckoutSession): Promise<void> {
      await handle('checkout_sessions').where({ id: session.id }).update(progressValues(session));
    },

    /**
     * Makes a wallet the payer. The same one again changes nothing, whatever the session's state; undefined for another
     * when the session is not active or a transfer for it was seen. Decision 114.
     */
    async bindWallet(id: string, address: string, now: number): Promise<CheckoutSession | undefined> {
      const [row] = await rowsOf<SessionRow>(
        handle,
        `update checkout_sessions set payer_address = ?, updated_at = ?
         where id = ? and status = 'active' and (payer_address is null or payer_address <> ?)
           and not exists (select 1 from transactions where session_id = ? and status in ('confirming', 'completed'))
         returning *`,
        [address, now, id, address, id],
      );
      if (row !== undefined) return opened(row);
      return findWhere({ sql: 'id = ? and payer_address = ?', bindings: [id, address] });
    },

    /** Of this payer: those that are active, or ended at that time or later; the oldest first. */
    async byPayer(place: DepositAddress, payer: string, endedAfter: number): Promise<CheckoutSession[]> {
      const sql = `select * from checkout_sessions
        where ${OF_PLACE} and payer_address = ? and (ended_at is null or ended_at >= ?)
        order by created_at, id`;
      const rows = await rowsOf<SessionRow>(handle, sql, [...bindingsOf(place), payer, endedAfter]);
      return rows.map(opened);
    },

    /**
     * Of an organization, that ask for exactly this: the active one, if any, then two of those that expired at that time
     * or later, which tells one from several.
     */
    async byAmount(
      place: DepositAddress & Owner,
      amount: bigint,
      endedAfter: number,
    ): Promise<CheckoutSession[]> {
      const { sql: isOwn, bindings: owner } = ownedBy(place);
      const isAsked = `not is_wallet_only and ${OF_PLACE} and ${isOwn} and amount_due = ?`;
      const asked = [...bindingsOf(place), ...owner, uintColumn(amount)];
      const active = await rowsOf<SessionRow>(
        handle,
        `select * from checkout_sessions where status = 'active' and ${isAsked}`,
        asked,
      );
      const expired = await rowsOf<SessionRow>(
        handle,
        `select * from checkout_sessions
         where status = 'expired' and ${isAsked} and ended_at >= ?
         order by ended_at desc limit 2`,
        [...asked, endedAfter],
      );
      return [...active, ...expired].map(opened);
    },

    /** True when an open session or an active link of the organization has this price at the place. */
    isPrice: (place: OwnPlace, amount: bigint): Promise<boolean> => isPrice(handle, place, amount),
  };
}

function matching(owner: Owner, { status, paymentLinkId, from, to }: SessionFilters): Sql {
  return allOf([
    ownedBy(owner),
    given('status = ?', status),
    given('payment_link_id = ?', paymentLinkId),
    given('created_at >= ?', from),
    given('created_at < ?', to),
  ]);
}

/** What payers follow of these sessions, by id, in one statement. Unknown ids are left out. */
export async function sessionStates(
  handle: Handle,
  ids: readonly string[],
): Promise<Map<string, SessionState>> {
  const sql = `select ${STATE_COLUMNS.join(', ')} from checkout_sessions where id in (${placeholders(ids.length)})`;
  const rows = await rowsOf<Parameters<typeof stateOf>[0]>(handle, sql, ids);
  return new Map(rows.map(row => [row.id, stateOf(row)]));
}

/**
 * What holds one amount for one session. In a serializable transaction PostgreSQL reports whoever committed the same
 * amount meanwhile as a conflict that the transaction can be tried again for, where a violated index would end it.
 */
const ACTIVE_AMOUNT = `(chain_id, token_address, recipient_address, amount_due)
  where status = 'active' and not is_wallet_only`;

/** Within a transaction the first one is the only one. */
const MOST_ATTEMPTS = 20;

/** Opens a session, as `open` of the session store says. */
async function openSession(handle: Handle, seals: Seals, draft: SessionDraft): Promise<CheckoutSession> {
  const { organizationId, mode, chainId, recipientAddress: address, createdAt } = draft;
  await watchedStore(handle).watch(draft, draft, createdAt);
  const { isOwner } = await recipientStore(handle).name(
    { organizationId, mode },
    { chainId, address },
    createdAt,
  );
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    // Only the owner of the recipient is paid by exact amounts. Decision 137.
    const amountDue = isOwner ? await freeAmount(handle, draft, attempt) : undefined;
    const { tokenDecimals, clientHash = null, ...opened } = draft;
    const session = {
      ...opened,
      amountDue: amountDue ?? draft.amount,
      isWalletOnly: amountDue === undefined,
    };
    const values = {
      ...sessionValues(session, seals),
      client_hash: clientHash,
      is_price_round: isRound(session.amount, tokenDecimals),
    };
    if (await inserted(handle, values)) {
      announce(handle, watcherName(chainId));
      return session;
    }
  }
  throw new Error(
    `Every amount that was found free for session ${draft.id} was taken before it was written.`,
  );
}

/** False when the amount was taken since it was found free: without a transaction others come in between. */
async function inserted(handle: Handle, values: SessionRow): Promise<boolean> {
  const rows = await handle('checkout_sessions')
    .insert(values)
    .onConflict(handle.raw(ACTIVE_AMOUNT))
    .ignore()
    .returning('id');
  return rows.length === 1;
}
