import { uintColumn } from '../../db/columns.ts';
import type { Transaction } from '../../db/open.ts';
import { announce } from '../../db/woken-worker.ts';
import { newId } from '../../lib/ids.ts';
import { refundData } from '../events/event-data.ts';
import { eventStore } from '../events/event-store.ts';
import type { EventType } from '../model/event.ts';
import type { Actor } from '../model/owner.ts';
import { watcherName } from '../model/payment-chain.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import { REFUND_LIFETIME_MS, type Refund, type RefundFailureReason } from '../model/refund.ts';
import type { Transfer } from '../model/transfer.ts';
import type { Seals } from '../secrets/sealed.ts';
import { sessionStore } from '../sessions/session-store.ts';
import { type RefundTransaction, refundStore } from './refund-store.ts';

type RefundEventType = Extract<EventType, `refund.${string}`>;

/** Order of events with the same time, after those of payments. */
const ORDER = { 'refund.created': 3, 'refund.completed': 4, 'refund.failed': 5 } as const;

/** Most refunds that one transaction expires, so that other writers do not wait long. */
const EXPIRED_AT_ONCE = 200;

/** The transfer of a refund in a block. */
export type RefundTransfer = Pick<Transfer, 'txHash' | 'logIndex' | 'blockNumber' | 'blockHash'>;

/** All state changes of refunds, within one database transaction. Each writes its event; repeating it changes nothing. */
export type RefundMoves = ReturnType<typeof refundMoves>;

export function refundMoves({
  handle,
  seals,
  now,
}: {
  readonly handle: Transaction;
  readonly seals: Seals;
  /** UTC milliseconds. */
  readonly now: number;
}) {
  const refunds = refundStore(handle);

  /** Records an event of a refund. `occasion` tells it from events of the same type. */
  async function tell(type: RefundEventType, refund: Refund, occasion: string): Promise<void> {
    const { id, organizationId, mode, sessionId } = refund;
    const session = sessionId === null ? undefined : await sessionStore(handle, seals).findById(sessionId);
    const data = refundData(refund, session);
    const event = { id: newId('evt'), organizationId, mode, type, createdAt: now, data };
    await eventStore(handle, seals).insert([{ event, fact: `${id}:${occasion}`, order: ORDER[type] }]);
  }

  async function write(refund: Refund): Promise<Refund> {
    const written = { ...refund, updatedAt: now };
    await refunds.update(written);
    return written;
  }

  async function total({ sessionId, unmatchedTransferId }: Refund): Promise<void> {
    if (sessionId !== null) await totalSession(handle, sessionId, now);
    if (unmatchedTransferId !== null) await totalTransfer(handle, unmatchedTransferId);
  }

  async function end(refund: Refund, failureReason: RefundFailureReason, by: Partial<Refund> = {}) {
    const ended = await write({ ...refund, ...by, status: 'cancelled', failureReason, cancelledAt: now });
    await total(ended);
    await tell('refund.failed', ended, 'cancelled');
    return ended;
  }

  return {
    /** Records a new refund, whose amount the caller has found to be free in this transaction. */
    async create(refund: Refund): Promise<void> {
      await refunds.insert(refund);
      await total(refund);
      await tell('refund.created', refund, 'created');
      announce(handle, watcherName(refund.chainId));
    },

    /** Cancels a refund that requires action. Undefined in any other state. The caller counts its session again. */
    async cancel(id: string, by: Actor, reason: string | null): Promise<Refund | undefined> {
      const refund = await refunds.byId(id);
      if (refund.status !== 'requires_action') return undefined;
      return end(refund, 'cancelled', { cancelledBy: by, cancelledReason: reason });
    },

    /**
     * Names the transaction of a refund, to be looked for. The same one again changes nothing while it is looked for.
     * Undefined once another one was seen in a block, or the refund has ended.
     */
    async name(id: string, txHash: string, by: Actor): Promise<Refund | undefined> {
      const refund = await refunds.byId(id);
      const isSame = refund.txHash === txHash;
      if (isSame && (refund.status === 'pending' || refund.status === 'completed')) return refund;
      const isOpen = refund.status === 'requires_action' || refund.status === 'pending';
      if (!isOpen || refund.blockNumber !== null) return undefined;
      announce(handle, watcherName(refund.chainId));
      return write({
        ...refund,
        status: 'pending',
        txHash,
        failureReason: null,
        completedBy: by,
        searchedSince: now,
        // A transaction may be found only after an outage of the nodes.
        expiresAt: Math.max(refund.expiresAt, now + REFUND_LIFETIME_MS),
      });
    },

    /** Its transfer is in a block. Without enough confirmations it is pending, otherwise it is completed. True if it changed. */
    async seen(id: string, transfer: RefundTransfer, confirmations: number): Promise<boolean> {
      const refund = await refunds.byId(id);
      if (refund.status === 'cancelled' || refund.status === 'completed') return false;
      const isDone = confirmations >= refund.requiredConfirmations;
      const isSame = refund.blockHash === transfer.blockHash && refund.confirmations === confirmations;
      if (isSame && !isDone) return false;
      const { txHash, logIndex, blockNumber, blockHash } = transfer;
      await refunds.clearIndex({ ...refund, txHash, blockHash }, logIndex);
      const placed = { ...refund, txHash, logIndex, blockNumber, blockHash, failureReason: null };
      if (!isDone) {
        await write({ ...placed, status: 'pending', confirmations });
        return true;
      }
      const completed = await write({
        ...placed,
        status: 'completed',
        confirmations: refund.requiredConfirmations,
        completedAt: now,
      });
      await total(completed);
      await tell('refund.completed', completed, `completed:${now}`);
      return true;
    },

    /**
     * A transaction is in another block, where its logs may have other indexes. All its refunds of an organization move to their transfers
     * there together, and two with equal transfers keep their order. One without a transfer loses its index; what becomes
     * of it is judged alone. There is no event. True if one moved.
     */
    async moved(at: RefundTransaction, transfersOf: (refund: Refund) => RefundTransfer[]): Promise<boolean> {
      const moving = await refunds.seenElsewhere(at);
      if (moving.length === 0) return false;
      const taken = await refunds.taken(at);
      // All indexes are cleared first, because two refunds must not have the same one.
      for (const refund of moving) await refunds.update({ ...refund, logIndex: null });
      let hasMoved = false;
      for (const refund of moving) {
        const transfer = transfersOf(refund).find(({ logIndex }) => !taken.has(logIndex));
        if (transfer === undefined) continue;
        const { logIndex, blockNumber, blockHash } = transfer;
        taken.add(logIndex);
        await write({ ...refund, logIndex, blockNumber, blockHash });
        hasMoved = true;
      }
      return hasMoved;
    },

    /** The block of a pending refund is gone, and its transaction is looked for again. True if it changed. */
    async unseen(id: string): Promise<boolean> {
      const refund = await refunds.byId(id);
      if (refund.status !== 'pending' || refund.blockNumber === null) return false;
      // Its transaction may come back at any time, however old the refund is.
      const expiresAt = Math.max(refund.expiresAt, now + REFUND_LIFETIME_MS);
      await write({ ...refund, ...NOWHERE, searchedSince: now, expiresAt });
      return true;
    },

    /**
     * Its transaction did not send the money, or the chain dropped it. The refund requires action again. True if it
     * changed.
     */
    async fail(id: string, failureReason: RefundFailureReason): Promise<boolean> {
      const refund = await refunds.byId(id);
      if (refund.status !== 'pending' && refund.status !== 'completed') return false;
      const failed = await write({
        ...refund,
        ...NOWHERE,
        status: 'requires_action',
        failureReason,
        completedAt: null,
        expiresAt: Math.max(refund.expiresAt, now + REFUND_LIFETIME_MS),
      });
      if (refund.status === 'completed') await total(failed);
      await tell('refund.failed', failed, `failed:${now}`);
      return true;
    },

    /**
     * Ends refunds past their time whose transfer was not seen, on watched chains only when those were read beyond it. The
     * caller counts their sessions again.
     */
    async expireDue(watched: readonly number[]): Promise<readonly Refund[]> {
      const due = await refunds.due(now, watched, EXPIRED_AT_ONCE);
      for (const refund of due) await end(refund, 'expired');
      return due;
    },
  };
}

const NOWHERE = { logIndex: null, blockNumber: null, blockHash: null, confirmations: 0 };

/** Writes the sums of a session's refunds to the session. */
async function totalSession(handle: Transaction, sessionId: string, now: number): Promise<void> {
  const { reserved, completed } = await refundStore(handle).sums({ sessionId });
  await handle('checkout_sessions')
    .where({ id: sessionId })
    .update({
      amount_refunded: uintColumn(completed),
      amount_reserved: uintColumn(reserved),
      updated_at: now,
    });
}

/** Writes the sum of an unmatched transfer's completed refunds to its record, also while the chain has dropped it. */
async function totalTransfer(handle: Transaction, id: string): Promise<void> {
  const { completed } = await refundStore(handle).sums({ unmatchedTransferId: id });
  for (const table of ['unmatched_transfers', 'dropped_transfers'] as const)
    await handle(table)
      .where({ id })
      .update({ amount_refunded: uintColumn(completed) });
}

/** Gives the refunds of an unmatched transfer, and their sums, to the payment that it became. `now` is UTC ms. */
export async function followMoney(
  { handle, now }: { readonly handle: Transaction; readonly now: number },
  transferId: string,
  payment: PaymentTransaction,
): Promise<void> {
  if ((await refundStore(handle).follow(transferId, payment)) > 0)
    await totalSession(handle, payment.sessionId, now);
}
