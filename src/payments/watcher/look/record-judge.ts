import type { Clock } from '#lib/clock.ts';
import { hasRecordsToJudge } from '../../store/chain-records.ts';
import { transactionStore } from '../../store/transaction-store.ts';
import { confirmPayments, confirmUnmatched } from './confirm.ts';
import { claimFollower, isWaiting } from './payment-hints.ts';
import { firstWatchedBlock, watchReorganisations } from './reorgs.ts';
import type { Round } from './round.ts';

/** Result of judging records against the head of a look. */
interface Judgement {
  readonly changes: number;
  /** True when transfers counted as settled have to be matched again. */
  readonly isMoved: boolean;
  /** False when the node could not answer for every block. */
  readonly isCertain: boolean;
}

/** Checks the records of a chain against the head of each look. Remembers the last head that all records stand on. */
export function recordJudge({ clock }: { clock: Clock }) {
  const claims = claimFollower({ clock });
  let settledHead = '';

  async function judgeRecords(round: Round): Promise<Judgement> {
    const { chain, db, head } = round;
    const open = await transactionStore(db).open(chain.id);
    const { completed, takenBack } = await confirmPayments(round, open);
    // A payment that just became pending again is looked up in the same look, so the claims are read again.
    const followed = await claims.follow(round, takenBack === 0 ? open.filter(isWaiting) : undefined);
    // Settled records change only when the chain does.
    const isSettled = settledHead === head.hash;
    const { lost, isCertain } = isSettled ? { lost: 0, isCertain: true } : await watchReorganisations(round);
    const listed = await confirmUnmatched(round);
    // Completed payments keep their session, so they are not matched again.
    const moved = takenBack + followed + lost;
    return { changes: moved + completed + listed, isMoved: moved > 0, isCertain };
  }

  /** Without records to check, everything settled stands. */
  async function noteStanding(round: Round): Promise<Judgement> {
    await claims.follow(round, []);
    if (settledHead !== round.head.hash) round.note({ settledBlock: round.head.number });
    return { changes: 0, isMoved: false, isCertain: true };
  }

  return {
    /** Checks all records that are not final. `hasNews` is true when the look has just recorded something. */
    async judge(round: Round, hasNews: boolean): Promise<Judgement> {
      const { chain, db, head } = round;
      const hasRecords = hasNews || (await hasRecordsToJudge(db, chain.id, firstWatchedBlock(round)));
      const judgement = hasRecords ? await judgeRecords(round) : await noteStanding(round);
      if (judgement.isCertain) settledHead = head.hash;
      return judgement;
    },

    /** Looks up claimed payments; returns the number of changes. */
    follow: (round: Round): Promise<number> => claims.follow(round),

    /** True while no head is remembered. */
    isFresh: (): boolean => settledHead === '',

    /** Forgets the head, so that all settled records are checked again. */
    forget(): void {
      settledHead = '';
    },
  };
}
