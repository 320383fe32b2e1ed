import type { Clock } from '#lib/clock.ts';
import { hasRecordsToJudge } from '../../store/chain-records.ts';
import { transactionStore } from '../../store/transaction-store.ts';
import type { Header } from '../node/node-view.ts';
import { confirmPayments, confirmUnmatched } from './confirm.ts';
import { claimFollower, isWaiting } from './payment-hints.ts';
import { firstWatchedBlock, type ReorgCheck, watchReorganisations } from './reorgs.ts';
import type { Round } from './round.ts';

/** Result of judging records against the head of a look. */
interface Judgement {
  readonly changes: number;
  /** True when transfers counted as settled have to be matched again. */
  readonly isMoved: boolean;
  /** False when the next look has to check the settled records again. */
  readonly isCertain: boolean;
}

/** Findings of a look before its records are judged. */
interface Scanned {
  /** True when the look has just recorded something. */
  readonly hasNews: boolean;
  /** Number of the highest block of earlier looks that is still on the chain; undefined when none is known. */
  readonly standing: number | undefined;
}

/** Checks the records of a chain against the head of each look. Remembers the last head that all records stand on. */
export function recordJudge({ clock }: { clock: Clock }) {
  const claims = claimFollower({ clock });
  let settledHead: Header | undefined;

  /** Settled records change only when the blocks up to the settled head do. */
  async function checkSettled(round: Round, standing = -1): Promise<ReorgCheck> {
    if (
      settledHead === undefined ||
      (settledHead.hash !== round.head.hash && settledHead.number > standing)
    ) {
      return watchReorganisations(round);
    }
    noteSettled(round);
    return { lost: 0, isCertain: true };
  }

  function noteSettled({ head, note }: Round): void {
    if (settledHead?.hash !== head.hash) note({ settledBlock: head.number });
  }

  async function judgeRecords(round: Round, standing: number | undefined): Promise<Judgement> {
    const { chain, db } = round;
    const open = await transactionStore(db).open(chain.id);
    const { completed, takenBack } = await confirmPayments(round, open);
    // A payment that just became pending again is looked up in the same look, so the claims are read again.
    const followed = await claims.follow(round, takenBack === 0 ? open.filter(isWaiting) : undefined);
    const { lost, isCertain } = await checkSettled(round, standing);
    const listed = await confirmUnmatched(round);
    // Completed payments keep their session, so they are not matched again.
    const moved = takenBack + followed + lost;
    return { changes: moved + completed + listed, isMoved: moved > 0, isCertain };
  }

  /** Without records to check, everything settled stands. */
  async function noteStanding(round: Round): Promise<Judgement> {
    await claims.follow(round, []);
    noteSettled(round);
    return { changes: 0, isMoved: false, isCertain: true };
  }

  return {
    /** Checks all records that are not final. */
    async judge(round: Round, { hasNews, standing }: Scanned): Promise<Judgement> {
      const { chain, db, head } = round;
      const hasRecords = hasNews || (await hasRecordsToJudge(db, chain.id, firstWatchedBlock(round)));
      const judgement = hasRecords ? await judgeRecords(round, standing) : await noteStanding(round);
      settledHead = judgement.isCertain ? head : undefined;
      return judgement;
    },

    /** Looks up claimed payments; returns the number of changes. */
    follow: (round: Round): Promise<number> => claims.follow(round),

    /** True while no head is remembered. */
    isFresh: (): boolean => settledHead === undefined,

    /** Forgets the head, so that all settled records are checked again. */
    forget(): void {
      settledHead = undefined;
    },
  };
}
