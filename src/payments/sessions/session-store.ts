import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, execute, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { announce } from '../../db/woken-worker.ts';
import { isRound } from '../amounts/token-amount.ts';
import { customerStore } from '../customers/customer-store.ts';
import { removeUnusedCustomers } from '../customers/unused-customers.ts';
import { issueDepositAddress } from '../deposits/issuing.ts';
import type { Owner } from '../model/owner.ts';
import { type PaidAddress, watcherName } from '../model/payment-chain.ts';
import type { CheckoutSession, SessionState, SessionStatus } from '../model/session.ts';
import { recipientStore } from '../recipients/recipient-store.ts';
import type { Seals } from '../secrets/sealed.ts';
import { type ListPage, type ListPageRequest, ownedBy, ownedRow, paged } from '../store/list-query.ts';
import { watchedStore } from '../store/watched-store.ts';
import { select } from '../tables/select.ts';
import type { SessionRow } from '../tables/session-tables.ts';
import { freeAmount } from './amounts-due.ts';
import type { SessionDraft } from './opening.ts';
import { type SessionFilters, sessionsMatching } from './session-filters.ts';
import {
  AT_ADDRESS,
  AT_DEPOSIT_ADDRESS,
  bindingsOf,
  progressValues,
  sessionOf,
  sessionStateRows,
  sessionValues,
  stateOf,
} from './session-rows.ts';

/** Most sessions of a wallet at an address that a transfer is matched with: open ones, and those that have ended. */
const MOST_SIGNED = { open: 500, ended: 100 } as const;

/** A wallet that signed for a session, which is in this state. `now` is UTC milliseconds. */
interface WalletOfSession {
  readonly id: string;
  readonly address: string;
  readonly now: number;
  readonly status: SessionStatus;
}

/** Checkout sessions. Personal data of customers is stored encrypted. */
export type SessionStore = ReturnType<typeof sessionStore>;

export function sessionStore(handle: Handle, seals: Seals) {
  const opened = (row: SessionRow) => sessionOf(row, seals);
  const findWhere = async ({ sql, bindings }: Sql): Promise<CheckoutSession | undefined> => {
    const [row] = await select({ from: 'checkout_sessions', columns: ['*'] }).rows(
      handle,
      `where ${sql}`,
      bindings,
    );
    return row && opened(row);
  };
  const findById = (id: string) => findWhere({ sql: 'id = ?', bindings: [id] });
  const bind = async ({
    id,
    address,
    now,
    status,
  }: WalletOfSession): Promise<CheckoutSession | undefined> => {
    const [row] = await select({ from: 'checkout_sessions', columns: ['*'] }).changed(
      handle,
      `update checkout_sessions set signed_address = ?,
         payer_address = case when ${HAS_PAYMENT} then payer_address else ? end, updated_at = ?
       where id = ? and status = ?
         and ((signed_address is null and not ${WAS_PAID_BY_ANOTHER}) or (signed_address <> ? and not ${HAS_PAYMENT}))`,
      [address, address, now, id, status, address, address],
    );
    if (row === undefined)
      return findWhere({ sql: 'id = ? and signed_address = ?', bindings: [id, address] });
    const session = opened(row);
    const customerId = await customerStore(handle, seals).identify(session, now);
    if (customerId === session.customerId) return session;
    await execute(handle, 'update checkout_sessions set customer_id = ? where id = ?', [customerId, id]);
    // That of a wallet that signed before.
    await removeUnusedCustomers(handle, [session.customerId]);
    return { ...session, customerId };
  };

  return {
    /**
     * Opens a session, and has its recipient watched. It asks for a random free amount, or has a deposit address; else
     * only a signed wallet can pay it. Needs a transaction, so that two sessions never get the same amount.
     */
    open: (draft: SessionDraft): Promise<CheckoutSession> => openSession(handle, seals, draft),

    find: (owner: Owner, id: string): Promise<CheckoutSession | undefined> => findWhere(ownedRow(owner, id)),

    /** A session of any owner. For the payer, who knows its id, and for the watcher. */
    findById,

    /** Sessions of any owner by id. Only for ids from the caller's own records. */
    async findMany(ids: readonly string[]): Promise<Map<string, CheckoutSession>> {
      if (ids.length === 0) return new Map();
      const rows = await select({ from: 'checkout_sessions', columns: ['*'] }).rows(
        handle,
        `where id in (${placeholders(ids.length)})`,
        ids,
      );
      return new Map(rows.map(row => [row.id, opened(row)]));
    },

    /**
     * The next `limit` deadlines of a client's open sessions without a signed wallet, after `now`. UTC milliseconds.
     */
    async endsOfClient(
      clientHash: string,
      { now, limit }: { now: number; limit: number },
    ): Promise<number[]> {
      const rows = await select({ from: 'checkout_sessions', columns: ['expires_at'] }).rows(
        handle,
        `where client_hash = ? and status = 'active' and signed_address is null and expires_at > ?
         order by expires_at limit ${limit}`,
        [clientHash, now],
      );
      return rows.map(row => row.expires_at);
    },

    /** Newest first. */
    list(owner: Owner, filters: SessionFilters, page: ListPageRequest): Promise<ListPage<CheckoutSession>> {
      const where = sessionsMatching(owner, filters);
      return paged(
        handle,
        { table: 'checkout_sessions', where, order: 'created_at desc, id desc' },
        page,
        opened,
      );
    },

    /** Writes all columns that change after opening. Only for the settlement, which records the events. */
    async update(session: CheckoutSession): Promise<void> {
      await handle('checkout_sessions').where({ id: session.id }).update(progressValues(session));
    },

    /**
     * Sets the payer's wallet. Repeating it with the same wallet changes nothing and succeeds in any state. A newer
     * wallet replaces it until a transfer is seen (Decision 114). Undefined after that, for an inactive session, and for
     * the first signature of another wallet than one that paid the exact amount (Decision 488).
     */
    bindWallet: (id: string, address: string, now: number) => bind({ id, address, now, status: 'active' }),

    /** The same for an expired session, of whose wallet a transfer has arrived (Decision 344). */
    bindExpired: (id: string, address: string, now: number) => bind({ id, address, now, status: 'expired' }),

    /**
     * Sessions that a wallet signed for, oldest first: the oldest active ones, and the latest that ended at `endedAfter`
     * or later, up to a number of each. A wallet may sign for any number (Decision 489).
     */
    async bySigner(
      address: PaidAddress,
      wallet: string,
      endedAfter: number,
      most: { readonly open: number; readonly ended: number } = MOST_SIGNED,
    ): Promise<CheckoutSession[]> {
      const isSigned = `${AT_ADDRESS} and signed_address = ?`;
      const signed = [...bindingsOf(address), wallet];
      const active = await select({ from: 'checkout_sessions', columns: ['*'] }).rows(
        handle,
        `where ${isSigned} and status = 'active' order by created_at, id limit ${BOUND}`,
        [...signed, most.open],
      );
      const ended = await select({ from: 'checkout_sessions', columns: ['*'] }).rows(
        handle,
        `where ${isSigned} and ended_at >= ? order by ended_at desc, id limit ${BOUND}`,
        [...signed, endedAfter, most.ended],
      );
      return [...active, ...ended]
        .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1))
        .map(opened);
    },

    /**
     * Sessions of an organization that ask for exactly this amount: the active one, if any, and up to two of each end
     * that ended at `endedAfter` or later. Two are enough to tell one from several.
     */
    async byAmount(
      address: PaidAddress & Owner,
      amount: bigint,
      endedAfter: number,
    ): Promise<CheckoutSession[]> {
      const { sql: isOwn, bindings: owner } = ownedBy(address);
      const isAsked = `not is_wallet_only and ${AT_ADDRESS} and ${isOwn} and amount_due = ?`;
      const asked = [...bindingsOf(address), ...owner, uintColumn(amount)];
      const active = await select({ from: 'checkout_sessions', columns: ['*'] }).rows(
        handle,
        `where status = 'active' and ${isAsked}`,
        asked,
      );
      const ended = async (status: 'completed' | 'expired') =>
        select({ from: 'checkout_sessions', columns: ['*'] }).rows(
          handle,
          `where status = '${status}' and ${isAsked} and ended_at >= ?
           order by ended_at desc limit 2`,
          [...asked, endedAfter],
        );
      return [...active, ...(await ended('completed')), ...(await ended('expired'))].map(opened);
    },

    /** The session of a deposit address, whatever became of it. */
    byDepositAddress: (at: PaidAddress) => findWhere({ sql: AT_DEPOSIT_ADDRESS, bindings: bindingsOf(at) }),

    /** True when an open session of an organization has this price. */
    async isOpenPrice(address: PaidAddress & Owner, price: bigint): Promise<boolean> {
      const { sql: isOwn, bindings: owner } = ownedBy(address);
      const rows = await select({ from: 'checkout_sessions', columns: ['id'] }).rows(
        handle,
        `where status = 'active' and ${AT_ADDRESS} and ${isOwn} and amount = ? limit 1`,
        [...bindingsOf(address), ...owner, uintColumn(price)],
      );
      return rows.length > 0;
    },
  };
}

const HAS_PAYMENT = `exists (
  select 1 from transactions t where t.session_id = checkout_sessions.id and t.status in ('confirming', 'completed')
)`;

/** A payment by the exact amount, from another wallet than this one. */
const WAS_PAID_BY_ANOTHER = `exists (
  select 1 from transactions t where t.session_id = checkout_sessions.id and t.status in ('confirming', 'completed')
    and t.matched_by = 'amount' and t.sender <> ?
)`;

/** States of sessions for their payers, by id, in one statement. Unknown ids are left out. */
export async function sessionStates(
  handle: Handle,
  ids: readonly string[],
): Promise<Map<string, SessionState>> {
  const rows = await sessionStateRows.rows(handle, `where s.id in (${placeholders(ids.length)})`, ids);
  return new Map(rows.map(row => [row.id, stateOf(row)]));
}

/**
 * The unique index that reserves an amount for one session. With this conflict target, a serializable transaction of
 * PostgreSQL fails with a retryable conflict when another one has just committed the same amount. A violated index
 * would end it with an error that is not retried.
 */
const ACTIVE_AMOUNT = `(chain_id, token_address, recipient_address, amount_due)
  where status = 'active' and not is_wallet_only`;

/** Limit of attempts. Within a transaction, the first one usually succeeds. */
const MAX_ATTEMPTS = 20;

/** Implements `open` of the session store. */
async function openSession(handle: Handle, seals: Seals, draft: SessionDraft): Promise<CheckoutSession> {
  const { organizationId, mode, chainId, recipientAddress: address, createdAt } = draft;
  await watchedStore(handle).watch(draft, draft, createdAt);
  const recipient = await recipientStore(handle).name(
    { organizationId, mode },
    { chainId, address },
    createdAt,
  );
  const deposit = await issueDepositAddress({ handle, seals }, draft, recipient);
  if (deposit !== undefined)
    await watchedStore(handle).watch(draft, { ...draft, recipientAddress: deposit.address }, createdAt);
  const depositAddress = deposit?.address ?? null;
  const customerId = await customerStore(handle, seals).identify(draft, createdAt);
  // Without ownership of the recipient, only a signed wallet can pay (Decision 137).
  const asksExactAmount = recipient.isOwner && depositAddress === null;
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const amountDue = asksExactAmount ? await freeAmount(handle, draft, attempt) : undefined;
    const { tokenDecimals, clientHash = null, depositRules: _, ...opened } = draft;
    const session = {
      ...opened,
      amountDue: amountDue ?? draft.amount,
      isWalletOnly: amountDue === undefined,
      depositAddress,
      customerId,
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
    `Every free amount that was found for session ${draft.id} was taken by another one before it was written.`,
  );
}

/** Inserts a session; false when another open session has its amount. */
async function inserted(handle: Handle, values: SessionRow): Promise<boolean> {
  const rows = await handle('checkout_sessions')
    .insert(values)
    .onConflict(handle.raw(ACTIVE_AMOUNT))
    .ignore()
    .returning('id');
  return rows.length === 1;
}
