import type { Clock } from '../../lib/clock.ts';
import { hasRecordsToJudge } from '../store/chain-records.ts';
import { transactionStore } from '../store/transaction-store.ts';
import { confirmPayments, confirmUnmatched } from './confirm.ts';
import { claimFollower, isWaiting } from './payment-hints.ts';
import { firstWatchedBlock, watchReorganisations } from './reorgs.ts';
import type { Round } from './round.ts';

/** What the head of a look changed about records. */
interface Judgement {
  readonly changes: number;
  /** True when transfers that were settled may pay again. */
  readonly isMoved: boolean;
  /** False when the node could not tell of everything yet. */
  readonly isCertain: boolean;
}

/** Judges what is recorded of a chain by the head of each look, and remembers the head on which all of it stands. */
export function recordJudge({ clock }: { clock: Clock }) {
  const claims = claimFollower({ clock });
  let settledHead = '';

  async function judgeRecords(round: Round): Promise<Judgement> {
    const { chain, db, head } = round;
    const open = await transactionStore(db).open(chain.id);
    const { completed, takenBack } = await confirmPayments(round, open);
    // A payment that was taken back is looked up in the same look.
    const followed = await claims.follow(round, takenBack === 0 ? open.filter(isWaiting) : undefined);
    // What is settled only changes with the chain.
    const isSettled = settledHead === head.hash;
    const { lost, isCertain } = isSettled ? { lost: 0, isCertain: true } : await watchReorganisations(round);
    const listed = await confirmUnmatched(round);
    // What was completed stays the payment that it was settled as.
    const moved = takenBack + followed + lost;
    return { changes: moved + completed + listed, isMoved: moved > 0, isCertain };
  }

  /** Without records everything settled stands. */
  async function noteStanding(round: Round): Promise<Judgement> {
    await claims.follow(round, []);
    if (settledHead !== round.head.hash) round.note({ settledBlock: round.head.number });
    return { changes: 0, isMoved: false, isCertain: true };
  }

  return {
    /** Judges everything that is not final. `hasNews` is true when the look has just recorded something. */
    async judge(round: Round, hasNews: boolean): Promise<Judgement> {
      const { chain, db, head } = round;
      const hasRecords = hasNews || (await hasRecordsToJudge(db, chain.id, firstWatchedBlock(round)));
      const judgement = hasRecords ? await judgeRecords(round) : await noteStanding(round);
      if (judgement.isCertain) settledHead = head.hash;
      return judgement;
    },

    /** Looks up claimed payments; answers with how many changed. */
    follow: (round: Round): Promise<number> => claims.follow(round),

    /** True while no head is remembered. */
    isFresh: (): boolean => settledHead === '',

    /** Has everything settled judged again. */
    forget(): void {
      settledHead = '';
    },
  };
}
