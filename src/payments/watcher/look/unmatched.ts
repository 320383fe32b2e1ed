import { depositSums } from '../../deposits/deposit-sums.ts';
import { tokenOf } from '../../model/payment-chain.ts';
import { LIFE_ALLOWANCE } from '../../model/session.ts';
import type { UnmatchedTransfer } from '../../model/transfer.ts';
import { type CandidateSessions, candidateStore } from '../../sessions/candidates.ts';
import { type LikelySessions, likelySessions } from '../../sessions/suggested-session.ts';
import { LATE_PAYMENT_MS, paidAddressOf } from '../../settlement/match.ts';
import { droppedTransfers } from '../../settlement/transfer-decisions.ts';
import { type PlacedTransfer, transferStore } from '../../store/transfer-store.ts';
import { canonicalRows } from '../node/canonical-rows.ts';
import { type LaneResult, NOTHING_DONE } from './lanes.ts';
import { breather, changeInParts, type Look } from './look.ts';
import type { ReceiptReader } from './receipts.ts';
import { shownRows } from './shown-rows.ts';

/** Most transfers that one look lists. Organizations take turns. */
const TRANSFERS_PER_LOOK = 1_000;
/** Most suggestions that one look makes. Each compares a transfer with the sessions of its recipient. */
const SUGGESTIONS_PER_LOOK = 200;

/**
 * Confirms transfers that match no session, so that they are listed, and deletes those that the chain dropped. The scan
 * reads unconfirmed ones again in each look, so a deleted one that came back is recorded again.
 */
export async function confirmUnmatched(
  look: Look,
  { receipts, early }: { readonly receipts: ReceiptReader; readonly early: EarlyCandidates },
): Promise<LaneResult> {
  const { chain, view, head, db, clock, line } = look;
  const name = 'unmatched';
  const transfers = transferStore(db);
  const recorded = await transfers.unconfirmedBlocks(chain.id, clock.now());
  if (recorded.length === 0) return NOTHING_DONE;
  const blocks = await canonicalRows(recorded, { view, head });
  const gone = blocks.gone.flatMap(({ blockHash }) => blockHash ?? []);
  let changes = 0;
  if (gone.length > 0) await remove(await transfers.unconfirmedIn(chain.id, gone, TRANSFERS_PER_LOOK));

  await early.tell(look);
  const standing = new Set(blocks.standing.map(({ blockHash }) => blockHash));
  const ripe = (
    await transfers.unconfirmed({
      chainId: chain.id,
      headBlock: head.number - chain.confirmations,
      now: clock.now(),
      limit: TRANSFERS_PER_LOOK,
    })
  ).filter(({ blockHash }) => standing.has(blockHash));
  const suggest = suggestions(look);
  await receipts.read(look, { name, rows: ripe }, async shown => {
    const { confirmed, untrue } = shownRows(ripe, shown);
    if (untrue.length > 0) await remove(untrue);
    const rows = await suggest(confirmed);
    await changeInParts(look, { name, rows }, async (part, { handle, settle, now }) => {
      const confirmed = new Set(await transferStore(handle).confirm(part, now));
      const listed = part.filter(({ id }) => confirmed.has(id));
      await depositSums(handle).recount(
        chain.id,
        listed.map(({ recipient }) => recipient),
      );
      // The others were reported before a merchant decided about them.
      await settle.reportUnmatched(listed.filter(one => one.dismissedAt === null && one.restoredAt === null));
      await candidateStore(handle).add(listed.map(candidatesOf));
    });
    changes += rows.length;
    const ids = new Set(rows.map(({ id }) => id));
    for (const { id: transferId, organizationId, mode, txHash } of confirmed.filter(one => ids.has(one.id)))
      line({ chainId: chain.id, organizationId, mode, transferId, txHash }, 'transfer matches no session');
  });
  return { changes, isMoved: false };

  async function remove(rows: readonly PlacedTransfer[]): Promise<void> {
    await changeInParts(look, { name, rows }, (part, { handle }) => droppedTransfers(handle).drop(part));
    changes += rows.length;
  }
}

interface EarlyCandidates {
  tell(look: Look): Promise<void>;
  forget(): void;
}

/**
 * Tells payers of transfers that could be theirs before these are confirmed (Decision 342). Each is compared with the
 * sessions once while it is in a block, and again when it is confirmed: sessions may have opened since.
 */
export function earlyCandidates(): EarlyCandidates {
  /** Keys of the transfers that were compared. */
  let compared: ReadonlySet<string> = new Set();

  return {
    async tell(look) {
      const { chain, db, head, clock } = look;
      const unconfirmed = await transferStore(db).unconfirmed({
        chainId: chain.id,
        headBlock: head.number,
        now: clock.now(),
        limit: TRANSFERS_PER_LOOK,
      });
      const suggested = await suggestions(look)(unconfirmed.filter(one => !compared.has(keyOf(one))));
      const rows = suggested.filter(({ candidates }) => candidates.length > 0);
      await changeInParts(look, { name: 'unmatched', rows }, (part, { handle }) =>
        candidateStore(handle).add(part.map(candidatesOf)),
      );
      const isNew = new Set(suggested.map(keyOf));
      compared = new Set(unconfirmed.map(keyOf).filter(key => compared.has(key) || isNew.has(key)));
    },
    forget() {
      compared = new Set();
    },
  };
}

function keyOf({ id, blockHash }: PlacedTransfer): string {
  return `${id} ${blockHash}`;
}

function candidatesOf({ id, candidates }: SuggestedTransfer): CandidateSessions {
  return { transferId: id, sessionIds: candidates };
}

/** A transfer to be listed, and the sessions that it was probably meant for. */
type SuggestedTransfer = UnmatchedTransfer & LikelySessions;

/**
 * Finds the sessions that payers probably meant. The merchant decides about a rounded amount (Decision 133). Equal
 * transfers are meant for the same one. Transfers beyond the limit of a look are left out.
 */
function suggestions({ chain, db }: Look) {
  const breathe = breather();
  const known = new Map<string, LikelySessions>();

  return async (transfers: readonly UnmatchedTransfer[]): Promise<SuggestedTransfer[]> => {
    const suggested: SuggestedTransfer[] = [];
    for (const transfer of transfers) {
      const { organizationId, mode, amount, sender, blockTime } = transfer;
      const address = paidAddressOf(transfer);
      const key = `${organizationId} ${mode} ${address.tokenAddress} ${address.recipientAddress} ${amount} ${sender} ${blockTime}`;
      let likely = known.get(key);
      if (likely === undefined) {
        if (known.size >= SUGGESTIONS_PER_LOOK) continue;
        const owner = { organizationId, mode };
        const tokenDecimals = tokenOf(chain, address.tokenAddress)?.decimals ?? 0;
        const openedBy = blockTime + LIFE_ALLOWANCE.beforeMs;
        const payment = {
          ...address,
          amount,
          sender,
          tokenDecimals,
          blockTime,
          openedBy,
          endedAfter: blockTime - LATE_PAYMENT_MS,
        };
        likely = await likelySessions(db, owner, payment);
        known.set(key, likely);
        await breathe();
      }
      suggested.push({ ...transfer, ...likely });
    }
    return suggested;
  };
}
