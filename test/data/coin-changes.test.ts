import { expect, test } from 'vitest';
import { coinChanges } from '#data/backends/own-index/parts/coin-changes.ts';

const BLOCKS = 400;

/** Reproducible pseudo-random numbers from 0 to below 1. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

/** An account that spends only in hinted blocks and receives anywhere; some hinted blocks have no change. */
function account(seed: number): { ends: bigint[]; hints: number[] } {
  const random = seeded(seed);
  const ends: bigint[] = [];
  const hints: number[] = [];
  let balance = 0n;
  for (let block = 0; block < BLOCKS; block += 1) {
    const chance = random();
    if (chance < 0.05) balance += BigInt(Math.ceil(random() * 100));
    else if (chance < 0.15) {
      hints.push(block);
      balance = random() < 0.5 ? balance / 2n : balance;
    }
    ends.push(balance);
  }
  return { ends, hints: hints.toReversed() };
}

async function walk({ ends, hints }: ReturnType<typeof account>, limits: { most: number; budget: number }) {
  const found: [number, bigint, bigint][] = [];
  const questions: number[] = [];
  for (let rest = BLOCKS - 1; rest >= 0; ) {
    const asked = new Set<number>();
    const page = await coinChanges({
      balanceAt: async block => {
        asked.add(block);
        return ends[block] ?? null;
      },
      mayAsk: () => asked.size < limits.budget,
      from: rest,
      to: 0,
      hints: hints.filter(hint => hint <= rest),
      most: limits.most,
    });
    found.push(
      ...page.changes.map(({ blockNumber, value, delta }): [number, bigint, bigint] => [
        blockNumber,
        value,
        delta,
      ]),
    );
    questions.push(asked.size);
    expect(page.changes.length).toBeLessThanOrEqual(limits.most);
    expect(page.rest).toBeLessThan(rest);
    rest = page.rest;
  }
  return { found, questions };
}

function changesOf(ends: readonly bigint[]) {
  return ends
    .map((value, block): [number, bigint, bigint] => [block, value, value - (ends[block - 1] ?? 0n)])
    .filter(([, , delta]) => delta !== 0n)
    .toReversed();
}

test.each([
  { most: 50, budget: 400 },
  { most: 3, budget: 400 },
  { most: 50, budget: 7 },
])('pages of at most $most changes within $budget requests list every change once', async limits => {
  for (let seed = 1; seed <= 25; seed += 1) {
    const made = account(seed);
    const { found, questions } = await walk(made, limits);

    expect(found, String(seed)).toEqual(changesOf(made.ends));
    // A search that has begun is completed beyond the budget.
    expect(Math.max(...questions)).toBeLessThan(limits.budget + 20);
  }
});

test('changes within the node’s state are listed, and a flag says where the state ends', async () => {
  const made = account(7);
  const all = changesOf(made.ends);
  const [kept = 0] = all[4] ?? [];

  const page = await coinChanges({
    balanceAt: async block => (block < kept ? null : (made.ends[block] ?? null)),
    mayAsk: () => true,
    from: BLOCKS - 1,
    to: 0,
    hints: made.hints,
    most: 50,
  });

  expect(page.isStateGone).toBe(true);
  expect(page.changes.map(({ blockNumber }) => blockNumber)).toEqual(all.slice(0, 4).map(([block]) => block));
  expect(page.rest).toBeGreaterThanOrEqual(kept);
});
