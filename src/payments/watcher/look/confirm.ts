import { tokenOf } from '../../model/payment-chain.ts';
import type { PaymentTransaction } from '../../model/payment-transaction.ts';
import type { UnmatchedTransfer } from '../../model/transfer.ts';
import { suggestedSession } from '../../sessions/suggested-session.ts';
import { CLOCK_ALLOWANCE_MS, depositAddressOf, LATE_MS } from '../../settlement/match.ts';
import { transferStore } from '../../store/transfer-store.ts';
import { canonicalRows } from '../node/canonical-rows.ts';
import { type ReceiptTransfers, type RecordedTransfer, shows } from '../node/receipt-transfers.ts';
import { readReceipts } from './receipts.ts';
import { breather, changeInParts, confirmationsOf, type Round } from './round.ts';

/** Numbers of payments that were completed and made pending again. */
interface ConfirmedPayments {
  readonly completed: number;
  readonly takenBack: number;
}

/**
 * Counts the confirmations of confirming payments from fresh headers. Completes those that have enough and whose
 * receipt still shows them. Makes those pending whose block is no longer on the chain.
 */
export async function confirmPayments(
  round: Round,
  open: readonly PaymentTransaction[],
): Promise<ConfirmedPayments> {
  const { view, head, log } = round;
  const seen = open.filter(one => one.status === 'confirming');
  const { standing, gone } = await canonicalRows(seen, { view, head });
  const ripe = standing.filter(one => depthOf(one) >= one.requiredConfirmations).sort(byPlace);
  // After the head went back, the count may be lower than the stored one. Confirmations shown never decrease.
  const growing = standing.filter(
    one => depthOf(one) < one.requiredConfirmations && depthOf(one) > one.confirmations,
  );

  const name = 'confirm';
  await takeBack(round, gone);
  const result = { completed: 0, takenBack: gone.length };
  const hashes = ripe.map(one => one.txHash ?? '');
  await readReceipts(round, { name, hashes }, async shown => {
    const { confirmed, untrue } = judged(ripe, shown);
    for (const { id, txHash } of untrue) {
      log.warn({ transaction: id, txHash }, 'the node returned a transfer that is missing in its receipt');
    }
    await takeBack(round, untrue);
    await changeInParts(round, { name, rows: confirmed }, async (part, { settle, breathe }) => {
      for (const one of part) {
        await settle.complete(one.id);
        await breathe();
      }
    });
    result.completed += confirmed.length;
    result.takenBack += untrue.length;
  });
  await changeInParts(round, { name, rows: growing }, async (part, { settle }) => {
    for (const [depth, ofDepth] of Map.groupBy(part, depthOf)) {
      await settle.progress(
        ofDepth.map(one => one.id),
        depth,
      );
    }
  });
  return result;

  function depthOf({ blockNumber }: PaymentTransaction): number {
    return blockNumber === null ? 0 : confirmationsOf({ blockNumber }, round);
  }
}

/** Makes payments pending again whose block is gone or does not contain them. */
async function takeBack(round: Round, rows: readonly PaymentTransaction[]): Promise<void> {
  if (rows.length === 0) return;
  await changeInParts(round, { name: 'confirm', rows }, async (part, { settle }) => {
    for (const one of part) await settle.orphan(one.id);
  });
  round.log.info(
    { transactions: rows.map(one => one.id) },
    'payments are pending again after a reorganisation',
  );
}

/** Rows that their receipts show and do not show. Rows without a receipt of their block are in neither list. */
function judged<Row extends RecordedTransfer & { readonly txHash: string | null }>(
  rows: readonly Row[],
  shown: ReadonlyMap<string, ReceiptTransfers>,
): { readonly confirmed: readonly Row[]; readonly untrue: readonly Row[] } {
  const isShown = (row: Row) => {
    const receipt = shown.get(row.txHash ?? '');
    return receipt && shows(receipt, row);
  };
  return {
    confirmed: rows.filter(row => isShown(row) === true),
    untrue: rows.filter(row => isShown(row) === false),
  };
}

function byPlace(a: PaymentTransaction, b: PaymentTransaction): number {
  return (a.blockNumber ?? 0) - (b.blockNumber ?? 0) || (a.logIndex ?? 0) - (b.logIndex ?? 0);
}

/**
 * Confirms transfers that match no session, so that they are listed, and deletes those that the chain dropped.
 * Returns the number of both.
 */
export async function confirmUnmatched(round: Round): Promise<number> {
  const { chain, view, head, db } = round;
  const kept = await transferStore(db).unconfirmed(chain.id);
  const { standing, gone } = await canonicalRows(kept, { view, head });
  const ripe = standing.filter(one => confirmationsOf(one, round) >= chain.confirmations);
  const name = 'unmatched';
  const suggest = suggestions(round);
  const remove = (rows: readonly UnmatchedTransfer[]) =>
    changeInParts(round, { name, rows }, (part, { handle }) =>
      transferStore(handle).remove(part.map(({ id }) => id)),
    );

  await remove(gone);
  let changes = gone.length;
  await readReceipts(round, { name, hashes: ripe.map(one => one.txHash) }, async shown => {
    const { confirmed, untrue } = judged(ripe, shown);
    await remove(untrue);
    const suggested = await suggest(confirmed);
    await changeInParts(round, { name, rows: confirmed }, async (part, { handle, now }) => {
      const store = transferStore(handle);
      await store.confirm(
        part.map(({ id }) => id),
        now,
      );
      for (const [sessionId, some] of Map.groupBy(part, one => suggested.get(one))) {
        if (sessionId !== undefined && sessionId !== null)
          await store.suggest(
            some.map(({ id }) => id),
            sessionId,
          );
      }
    });
    changes += confirmed.length + untrue.length;
  });
  return changes;
}

/**
 * Finds the sessions that payers probably meant. The merchant decides about a rounded amount (Decision 133). Transfers
 * of equal amounts to one address are meant for the same one.
 */
function suggestions({ chain, db }: Round) {
  const breathe = breather();
  const known = new Map<string, string | null>();

  async function suggestionFor(transfer: UnmatchedTransfer): Promise<string | null> {
    const { organizationId, mode, tokenAddress, recipient, amount, blockTime } = transfer;
    const key = `${organizationId} ${mode} ${tokenAddress} ${recipient} ${amount} ${blockTime}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const place = depositAddressOf(transfer);
    const suggested = await suggestedSession(
      db,
      { organizationId, mode },
      {
        ...place,
        amount,
        tokenDecimals: tokenOf(chain, tokenAddress)?.decimals ?? 0,
        openedBy: blockTime + CLOCK_ALLOWANCE_MS,
        endedAfter: blockTime - LATE_MS,
      },
    );
    known.set(key, suggested);
    return suggested;
  }

  return async (
    transfers: readonly UnmatchedTransfer[],
  ): Promise<ReadonlyMap<UnmatchedTransfer, string | null>> => {
    const suggested = new Map<UnmatchedTransfer, string | null>();
    for (const one of transfers) {
      suggested.set(one, await suggestionFor(one));
      await breathe();
    }
    return suggested;
  };
}
