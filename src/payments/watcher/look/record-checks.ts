import type { Clock } from '#lib/clock.ts';
import { hasRecordsToJudge } from '../../store/chain-records.ts';
import type { Header } from '../node/node-view.ts';
import { claimFollower } from './claim-follower.ts';
import { confirmPayments, type PaymentProofs } from './completions.ts';
import { type LaneResult, type LaneWorks, type lanes, NOTHING_DONE } from './lanes.ts';
import type { Look, TracedCheck } from './look.ts';
import { receiptReader } from './receipts.ts';
import { firstWatchedBlock, watchReorganisations } from './reorgs.ts';
import { confirmUnmatched, earlyCandidates } from './unmatched.ts';

/** Result of judging records against the head of a look. */
interface ChecksResult extends LaneResult {
  /** False when the next look has to check the records again. */
  readonly isCertain: boolean;
}

/** Findings of a look before its records are judged. */
interface Scanned {
  /** True when the look has just recorded something. */
  readonly hasNews: boolean;
  /** Number of the highest block of earlier looks that is still on the chain; undefined when none is known. */
  readonly standing: number | undefined;
}

/** A look that took longer is followed by one that completes payments first. */
const LONG_LOOK_MS = 1_000;

/**
 * Checks the records of a chain against the head of each look: first the payments to be completed, then all others, in
 * lanes that wait for nothing. Remembers the last head that all settled records stand on.
 */
export function recordChecks({
  side,
  proofs,
  clock,
  hasTraced,
}: {
  side: ReturnType<typeof lanes>;
  proofs: PaymentProofs;
  clock: Clock;
  hasTraced: TracedCheck;
}) {
  const claims = claimFollower({ clock });
  const receipts = receiptReader({ clock });
  const early = earlyCandidates();
  let settledHead: Header | undefined;
  let begunAt = Number.POSITIVE_INFINITY;
  let lastLookMs = 0;

  async function followClaims(look: Look): Promise<LaneResult> {
    const changes = await claims.follow(look);
    return { changes, isMoved: changes > 0 };
  }

  /** Settled records change only when the blocks up to the settled head do. */
  async function checkSettled(look: Look, standing = -1): Promise<LaneResult> {
    const { head } = look;
    const isStanding =
      settledHead !== undefined && (settledHead.hash === head.hash || settledHead.number <= standing);
    if (isStanding) {
      noteSettled(look);
      return NOTHING_DONE;
    }
    const { lost, isCertain } = await watchReorganisations(look, hasTraced);
    settledHead = isCertain ? head : undefined;
    return { changes: lost, isMoved: lost > 0 };
  }

  function noteSettled({ head, note }: Look): void {
    if (settledHead?.hash !== head.hash) note({ settledBlock: head.number });
    settledHead = head;
  }

  return {
    /**
     * Begins a look. After a long one, such as one of a flood, completes payments that have enough confirmations, so that
     * they do not wait for the next scan as well.
     */
    async begin(look: Look): Promise<LaneResult> {
      receipts.begin();
      begunAt = clock.now();
      if (lastLookMs <= LONG_LOOK_MS) return NOTHING_DONE;
      const { completed, takenBack } = await confirmPayments(look, { proofs, receipts });
      return { changes: completed + takenBack, isMoved: takenBack > 0 };
    },

    /** Checks all records that are not final. */
    async check(look: Look, { hasNews, standing }: Scanned): Promise<ChecksResult> {
      const { chain, db } = look;
      lastLookMs = clock.now() - begunAt;
      const hasRecords = hasNews || (await hasRecordsToJudge(db, chain.id, firstWatchedBlock(look)));
      if (!hasRecords) {
        // Everything settled stands.
        claims.forget();
        noteSettled(look);
        return { ...NOTHING_DONE, isCertain: true };
      }
      const { completed, takenBack } = await confirmPayments(look, { proofs, receipts });
      const done = await side.run(look, {
        claims: followClaims,
        unmatched: listing => confirmUnmatched(listing, { receipts, early }),
        reorgs: checking => checkSettled(checking, standing),
      });
      return {
        changes: completed + takenBack + done.changes,
        isMoved: takenBack > 0 || done.isMoved,
        isCertain: done.isOver && !proofs.isWaiting() && settledHead?.hash === look.head.hash,
      };
    },

    /** Looks up claimed payments, and does other work that waits for no block. */
    async follow(look: Look, others: LaneWorks): Promise<LaneResult> {
      return side.run(look, { claims: followClaims, ...others });
    },

    /** True while no head is remembered. */
    isFresh: (): boolean => settledHead === undefined,

    /** Forgets the head, so that all settled records are checked again, and gives up what is under way. */
    forget(): Promise<void> {
      receipts.forget();
      proofs.forget();
      early.forget();
      settledHead = undefined;
      return side.giveUp();
    },
  };
}
