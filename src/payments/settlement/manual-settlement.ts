import { createHash, randomBytes } from 'node:crypto';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { isToPlaceOf } from './match.ts';
import { hasUse, outcomes } from './outcomes.ts';
import type { Account } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { completed, failed, unseen } from './settling.ts';
import { sightFirst } from './sighting.ts';

type SimulatedOutcome = PaymentsSchemas['SimulationRequest']['outcome'];

type SessionId = Pick<CheckoutSession, 'id'>;

/** Payments by the merchant's word: an assigned transfer, and a simulated one. */
export function manualSettlement(unit: SettlementUnit) {
  const { complete, reorg } = outcomes(unit);

  return {
    /**
     * Makes a confirmed transfer that matched nothing a session's payment. Undefined when there is no such open
     * transfer, it is not to where the session is paid, or it paid another one.
     */
    async assign(
      owner: Owner,
      transferId: string,
      { id: sessionId }: SessionId,
    ): Promise<PaymentTransaction | undefined> {
      const transfer = await unit.transfers.find(owner, transferId);
      const session = await unit.sessions.find(owner, sessionId);
      if (transfer === undefined || session === undefined || transfer.assignedAt !== null) return undefined;
      if (!isToPlaceOf(session, transfer) || (await isRecorded(unit, transfer))) return undefined;

      const { requiredConfirmations: confirmations } = session;
      const seen = await sightFirst(unit, session, transfer, { matchedBy: 'assignment', confirmations });
      const transaction = await complete(seen.id);
      await unit.transfers.assign(transferId, { sessionId, transactionId: transaction.id }, unit.now);
      return transaction;
    },

    /**
     * Has a payment happen without a chain. Undefined when the session is not active or not of test mode.
     * Decision 116.
     */
    async simulate({ id }: SessionId, outcome: SimulatedOutcome): Promise<PaymentTransaction | undefined> {
      const session = await unit.sessionOf(id);
      if (session.mode !== 'test' || session.status !== 'active') return undefined;
      const others = await unit.transactions.ofSession(id);
      const { now } = unit;

      if (outcome === 'failed') {
        const transaction = unseen(session, { id: newId('txn'), txHash: null, matchedBy: 'simulation' }, now);
        return unit.writeNew(failed({ session, transaction, others }, 'simulated', now));
      }
      // Half of the price: the tail of a small price may be larger than the price itself.
      const amount = outcome === 'underpaid' ? (session.amount + 1n) / 2n : session.amountDue;
      const account: Account = { session, transaction: paid(session, amount, now), others };
      const settled = await unit.writeNew(completed(account, await hasUse(unit, account), now));
      return outcome === 'reorg' ? reorg(settled.id) : settled;
    },
  };
}

/** One transfer pays one session only. */
async function isRecorded({ transactions }: SettlementUnit, transfer: Transfer): Promise<boolean> {
  return (await transactions.byPlace(transfer.chainId, transfer.txHash, transfer.logIndex)) !== undefined;
}

/** As if it had its confirmations, though it is in no block. */
function paid(session: CheckoutSession, amount: bigint, now: number): PaymentTransaction {
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const known = { id: newId('txn'), txHash, matchedBy: 'simulation' as const };
  const sender = session.payerAddress ?? walletOf(session);
  return { ...unseen(session, known, now), status: 'confirming', amount, sender };
}

/** A wallet that belongs to the session alone, so that several simulated payments of it add up. */
function walletOf({ id }: CheckoutSession): string {
  return `0x${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}
