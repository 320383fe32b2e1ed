import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHAIN_KINDS } from '../../lab/chain-kind.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { eachDatabase } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { type ToldLie, tellLies } from './told-lies.ts';

/** Kinds of lies about which only other nodes can say which of two forks is the chain, so that payments wait. */
const OF_FORKS: readonly ToldLie['kind'][] = ['fork', 'mixture'];
/** What a node without proofs is believed: payments that it invents, and those that it hides for good. */
const INVENTED = [
  'changes the amount of log 0 in receipts',
  'changes the amount of log 0 everywhere',
  'changes the amount of log 1 everywhere',
  'changes the amount of log 3 everywhere',
];
const LOST = {
  prague: [
    'changes the amount of log 0 in receipts',
    'changes the amount of log 0 everywhere',
    'changes the status of receipt 2',
    'leaves out transaction 2',
    'leaves out transaction 2 with its receipt',
    'leaves out transaction 2 with its receipt and log',
    'changes the coins of transaction 2',
    'changes timestamp of the header',
  ],
  amsterdam: [
    'changes the amount of log 0 in receipts',
    'changes the amount of log 2 in receipts',
    'changes the amount of log 0 everywhere',
    'changes the amount of log 2 everywhere',
    'changes timestamp of the header',
  ],
};
/** Lies of a single node that stand once they are recorded: the time of a block, and coins that match no session. */
const STANDING = [
  'changes the amount of log 2 everywhere',
  'changes the coins of transaction 2',
  'changes timestamp of the header',
];

describe.each(CHAIN_KINDS)('payments on $engine with the rules of $hardfork', kind => {
  let chain: TestPaymentChain<ManualClock>;

  beforeAll(async () => {
    chain = await startPaymentChain({ clock: manualClock(Date.now()), ...kind });
  });

  afterAll(() => chain.stop());

  eachDatabase(
    'while a node lies',
    databases => {
      const told = (prove: 'off' | 'findings' | 'always', { hasHonest }: { hasHonest: boolean }) =>
        tellLies({ kind, chain, databases, prove, hasHonest });

      test.for(['findings', 'always'] as const)(
        'next to an honest one, with `prove: %s` none is missed, and none is invented',
        async prove => {
          const lies = await told(prove, { hasHonest: true });

          expect(namesOf(lies, one => one.missed > 0 && !OF_FORKS.includes(one.kind))).toEqual([]);
          expect(namesOf(lies, one => one.lost > 0)).toEqual([]);
          expect(namesOf(lies, one => one.invented > 0)).toEqual([]);
        },
      );

      test('alone, with `prove: always` none is missed that receipts show, and none is invented', async () => {
        const lies = await told('always', { hasHonest: false });

        expect(namesOf(lies, one => one.missed > 0 && one.kind === 'search')).toEqual([]);
        expect(STANDING).toEqual(expect.arrayContaining([...namesOf(lies, one => one.lost > 0)]));
        expect(namesOf(lies, one => one.invented > 0)).toEqual([]);
      });

      test('alone, with `prove: findings` none is invented, and none is lost but hidden ones', async () => {
        const lies = await told('findings', { hasHonest: false });

        expect(namesOf(lies, one => one.invented > 0)).toEqual([]);
        expect(LOST[kind.hardfork]).toEqual(expect.arrayContaining([...namesOf(lies, one => one.lost > 0)]));
        expect(namesOf(lies, one => one.kind === 'contents' && one.missed > 0 && !one.isNamed)).toEqual([]);
      });

      test('alone, with `prove: off` it is believed, and none is called proven', async () => {
        const lies = await told('off', { hasHonest: false });

        expect(namesOf(lies, one => one.inventedAsProven > 0)).toEqual([]);
        expect(namesOf(lies, one => one.invented > 0)).toEqual(INVENTED);
        expect(namesOf(lies, one => one.lost > 0)).toEqual(LOST[kind.hardfork]);
      });
    },
    ['sqlite'],
  );
});

function namesOf(lies: readonly ToldLie[], isMeant: (one: ToldLie) => boolean): readonly string[] {
  return lies.filter(isMeant).map(({ name }) => name);
}
