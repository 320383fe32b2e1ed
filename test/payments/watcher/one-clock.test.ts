import { expect, test } from 'vitest';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { manualClock } from '../../support/manual-clock.ts';

const HOUR_MS = 3_600_000;
/** One second is the resolution of a block's time. */
const MAX_BEHIND_MS = 2_000;

/** The clock's distance from the newest block, in milliseconds. */
const lagOf = async (chain: TestPaymentChain) => chain.clock.now() - (await chain.newestTime());

test.for(['anvil', 'edr'] as const)(
  'blocks of %s take their time from the clock, also after it advanced and after blocks were removed',
  async engine => {
    // An hour behind real time, so that time of the engine's own shows.
    const clock = manualClock(Date.now() - HOUR_MS);
    await using chain = await startPaymentChain({ clock, engine });
    const lags = [await lagOf(chain)];
    const measure = async (change: () => Promise<void>) => {
      await change();
      lags.push(await lagOf(chain));
    };

    clock.advance(90_000);
    await measure(() => chain.mine());
    const before = await chain.snapshot();
    clock.advance(HOUR_MS);
    await measure(() => chain.mine(2));
    await measure(() => chain.fork(before, 2));
    await measure(() => chain.mine());
    if (engine === 'anvil') {
      clock.advance(60_000);
      await measure(() => chain.replaceLast(2));
    }

    for (const lag of lags) {
      expect(lag).toBeLessThan(MAX_BEHIND_MS);
      // EDR gives each block a second of its own.
      expect(lag).toBeGreaterThan(engine === 'edr' ? -60_000 : -1);
    }
  },
);

test('blocks of one chain that are mined at the same time are mined one after the other', async () => {
  await using chain = await startPaymentChain({ clock: manualClock() });
  const first = await chain.head();

  await Promise.all([chain.mine(3), chain.mine(), chain.mine(2)]);

  expect(await chain.head()).toBe(first + 6);
});
