import { createHash, randomBytes } from 'node:crypto';
import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { newId } from '../../lib/ids.ts';
import type { Decision, Owner } from '../model/owner.ts';
import type { PaymentTransaction } from '../model/payment-transaction.ts';
import type { CheckoutSession } from '../model/session.ts';
import { type Transfer, transferStatus } from '../model/transfer.ts';
import { followMoney } from '../refunds/refund-moves.ts';
import { isToAddressOf } from './match.ts';
import { obstacleTo, outcomes } from './outcomes.ts';
import type { PaymentCase } from './session-totals.ts';
import type { SettlementUnit } from './settlement-unit.ts';
import { completed, failed, unseen } from './settling.ts';
import { transferDecisions } from './transfer-decisions.ts';
import { insertPayment } from './transfer-records.ts';

type SimulatedOutcome = PaymentsSchemas['SimulationRequest']['outcome'];

type SessionId = Pick<CheckoutSession, 'id'>;

/** Payments that the merchant triggers: an assigned transfer, and a simulated payment. */
export function manualSettlement(unit: SettlementUnit) {
  const { complete, reorg } = outcomes(unit);

  return {
    /**
     * Turns a confirmed unmatched transfer into a payment of a session. Undefined when the owner has no such transfer
     * or session, the transfer is not open or paid another session, or its chain, token or recipient differs
     * from the session's.
     */
    async assign(
      owner: Owner,
      transferId: string,
      { id: sessionId }: SessionId,
      decision: Decision,
    ): Promise<PaymentTransaction | undefined> {
      const transfer = await unit.transfers.find(owner, transferId);
      const session = await unit.sessions.find(owner, sessionId);
      if (transfer === undefined || session === undefined || transferStatus(transfer) !== 'open')
        return undefined;
      if (!isToAddressOf(session, transfer) || (await isRecorded(unit, transfer))) return undefined;

      const { requiredConfirmations: confirmations } = session;
      const seen = await insertPayment(unit, session, transfer, { matchedBy: 'assignment', confirmations });
      const { actor: assignedBy, reason: assignedReason } = decision;
      await unit.transactions.update({ ...seen, assignedAt: unit.now, assignedBy, assignedReason });
      // Its refunds come along before it counts.
      await followMoney(unit, transferId, seen);
      const transaction = await complete(seen.id);
      const payment = { sessionId, transactionId: transaction.id };
      await transferDecisions(unit.handle).assign(transferId, payment, { ...decision, now: unit.now });
      return transaction;
    },

    /**
     * Simulates a payment without a chain, for test sessions (Decision 116). Undefined when the session is not active
     * or not of test mode.
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
      // Half of the price, not of the amount due: for a small price, half of the amount due may reach the price.
      const amount = outcome === 'underpaid' ? (session.amount + 1n) / 2n : session.amountDue;
      const account: PaymentCase = { session, transaction: paid(session, amount, now), others };
      const settled = await unit.writeNew(completed(account, await obstacleTo(unit, account), now));
      return outcome === 'reorg' ? reorg(settled.id) : settled;
    },
  };
}

/** True when the transfer is already a payment. One transfer pays one session only. */
async function isRecorded({ transactions }: SettlementUnit, transfer: Transfer): Promise<boolean> {
  return (await transactions.byLog(transfer.chainId, transfer.txHash, transfer.logIndex)) !== undefined;
}

/** A simulated transaction, ready for completion although it is in no block. */
function paid(session: CheckoutSession, amount: bigint, now: number): PaymentTransaction {
  const txHash = `0x${randomBytes(32).toString('hex')}`;
  const known = { id: newId('txn'), txHash, matchedBy: 'simulation' as const };
  const sender = session.payerAddress ?? walletOf(session);
  return { ...unseen(session, known, now), status: 'confirming', amount, sender };
}

/** A wallet address derived from the session, so that several simulated payments of one session add up. */
function walletOf({ id }: CheckoutSession): string {
  return `0x${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}
