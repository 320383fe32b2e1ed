import { expect, test } from 'vitest';
import { blockRhythm } from '#payments/watcher/node/seen-heads.ts';
import { manualClock } from '#test/support/manual-clock.ts';

/** The pause after a look at each of several heads, whose times are in seconds; `arrivalMs` apart, or as their times are. */
function pauseAfter(times: readonly number[], { idleMs = 0, arrivalMs }: Arrival = {}): number {
  const clock = manualClock();
  const rhythm = blockRhythm({ clock });
  for (const [number, seconds] of times.entries()) {
    const sinceLastMs = (seconds - (times[number - 1] ?? seconds)) * 1_000;
    clock.advance(arrivalMs ?? sinceLastMs);
    rhythm.see({ number, hash: `0x${number}`, time: seconds * 1_000 });
  }
  clock.advance(idleMs);
  return rhythm.pauseMs();
}

interface Arrival {
  readonly idleMs?: number;
  readonly arrivalMs?: number;
}

test('a chain is looked at once in its block time, also when a slot stayed empty', () => {
  expect(pauseAfter([0, 12, 24, 48, 60])).toBe(12_000);
});

test('a chain with quick blocks, or one that is not known yet, is looked at every two seconds', () => {
  expect(pauseAfter([0, 0.25, 0.5, 0.75])).toBe(2_000);
  expect(pauseAfter([0, 12])).toBe(2_000);
});

test('a chain with blocks every minute is looked at every 15 seconds', () => {
  expect(pauseAfter([0, 60, 120, 180, 240])).toBe(15_000);
});

test('a chain that had no block for twice its block time is looked at every two seconds', () => {
  expect(pauseAfter([0, 5, 10, 15, 20], { idleMs: 11_000 })).toBe(2_000);
});

test('a chain whose blocks come faster than their times say, as while it is filled, is looked at every two seconds', () => {
  expect(pauseAfter([0, 60, 120, 180, 240], { arrivalMs: 2_000 })).toBe(2_000);
});
