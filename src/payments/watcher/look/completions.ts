import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import { byChainOrder } from '../../model/transfer.ts';
import { setAsideStore } from '../../store/set-aside-store.ts';
import { type PlacedPayment, watchedPayments } from '../../store/watched-payments.ts';
import { canonicalRows } from '../node/canonical-rows.ts';
import { changeInParts, confirmationsOf, type EffectName, type Look } from './look.ts';
import type { ReceiptReader } from './receipts.ts';
import { shownRows } from './shown-rows.ts';

/** Numbers of payments that were completed and made pending again. */
interface ConfirmedPayments {
  readonly completed: number;
  readonly takenBack: number;
}

/** Most payments that one look changes. Organizations take turns. */
const PAYMENTS_PER_LOOK = 200;

/** Payments by what their blocks show. Those that are left out wait for a later look. */
interface JudgedPayments {
  /** In a block that was recomputed. */
  readonly proven: readonly PaymentTransaction[];
  /** Not in their block, which was recomputed. */
  readonly untrue: readonly PaymentTransaction[];
  /** Their receipts alone decide. */
  readonly unproven: readonly PaymentTransaction[];
}

/** Proves payments by the contents of their blocks (Decision 385). */
export interface PaymentProofs {
  /** Payments that are not judged after a short while are judged by a later call. */
  judge(look: Look, payments: readonly PaymentTransaction[]): Promise<JudgedPayments>;
  /** `proven` of a payment that is completed without a proof. */
  readonly unprovenMark: false | null;
  /** True while a later look has to judge payments that were asked for. */
  isWaiting(): boolean;
  forget(): void;
}

/** Sources that payments are judged by before they are completed. */
interface PaymentJudges {
  readonly proofs: PaymentProofs;
  readonly receipts: ReceiptReader;
}

/**
 * Counts the confirmations of confirming payments from fresh headers. Completes those that have enough and that their
 * proven block contains, or whose receipt still shows them where there is no proof. Makes those pending whose block is no
 * longer on the chain.
 */
export async function confirmPayments(
  look: Look,
  { proofs, receipts }: PaymentJudges,
): Promise<ConfirmedPayments> {
  const { chain, view, head, db, log, clock } = look;
  const payments = watchedPayments(db);
  const result = { completed: 0, takenBack: 0 };
  const recorded = await payments.confirmingBlocks(chain.id, clock.now());
  if (recorded.length === 0) {
    proofs.forget();
    return result;
  }
  const blocks = await canonicalRows(recorded, { view, head });
  const gone = blocks.gone.flatMap(({ blockHash }) => blockHash ?? []);
  if (gone.length > 0) {
    const dropped = await payments.confirmingIn(chain.id, gone, PAYMENTS_PER_LOOK);
    await takeBack(look, { name: 'confirm', rows: dropped });
    result.takenBack += dropped.length;
  }

  const standing = new Set(blocks.standing.map(({ blockHash }) => blockHash));
  const due = (
    await payments.due({
      chainId: chain.id,
      headBlock: head.number,
      now: clock.now(),
      limit: PAYMENTS_PER_LOOK,
    })
  ).filter(({ blockHash }) => standing.has(blockHash));
  const ripe = due.filter(one => depthOf(one) >= one.requiredConfirmations);
  const judged = await proofs.judge(look, ripe);
  await conclude({ confirmed: judged.proven, untrue: judged.untrue, proven: true });
  const rows = judged.unproven;
  await receipts.read(look, { name: 'confirm', rows }, async shown => {
    await conclude({ ...shownRows(rows, shown), proven: proofs.unprovenMark });
  });
  // After the head went back, the count may be lower than the stored one. Confirmations shown never decrease.
  const growing = due.filter(
    one => depthOf(one) < one.requiredConfirmations && depthOf(one) > one.confirmations,
  );
  await changeInParts(look, { name: 'confirm', rows: growing }, async (part, { settle }) => {
    for (const [depth, ofDepth] of Map.groupBy(part, depthOf)) {
      await settle.progress(
        ofDepth.map(one => one.id),
        depth,
      );
    }
  });
  return result;

  async function conclude({ confirmed, untrue, proven }: Conclusion): Promise<void> {
    for (const { id, txHash } of untrue) {
      log.warn({ transaction: id, txHash }, 'the node returned a transfer that is missing in its receipt');
    }
    if (untrue.length > 0) await takeBack(look, { name: 'confirm', rows: untrue });
    result.takenBack += untrue.length;
    const rows = confirmed.toSorted(byChainOrder);
    await changeInParts(look, { name: 'confirm', rows }, async (part, { handle, now, settle, breathe }) => {
      for (const one of part) {
        await settle.complete(one.id, one.blockHash, { proven, isRequired: chain.requiresProof === true });
        await breathe();
      }
      // The receipts of the others are taken back when they are read.
      const hashes = proven === true ? part.flatMap(({ txHash }) => txHash ?? []) : [];
      await setAsideStore(handle).remove(chain.id, hashes, now);
    });
    result.completed += confirmed.length;
  }

  function depthOf({ blockNumber }: PaymentTransaction): number {
    return blockNumber === null ? 0 : confirmationsOf({ blockNumber }, look);
  }
}

/** Payments that are to be completed, and to be taken back. */
interface Conclusion {
  readonly confirmed: readonly PaymentTransaction[];
  readonly untrue: readonly PaymentTransaction[];
  readonly proven: boolean | null;
}

/** Makes payments pending again whose block is gone or does not contain them. */
export async function takeBack(
  look: Look,
  { name, rows }: { readonly name: EffectName; readonly rows: readonly PlacedPayment[] },
): Promise<void> {
  await changeInParts(look, { name, rows }, async (part, { settle, breathe }) => {
    for (const { id, blockHash } of part) {
      await settle.orphan(id, blockHash);
      await breathe();
    }
  });
  const facts = { transactions: rows.map(({ id }) => id) };
  look.log.info(facts, 'payments are pending again after a reorganisation');
}
