import { expect, test } from 'vitest';
import { blockRhythm } from '#payments/watcher/node/seen-heads.ts';
import { manualClock } from '#test/support/manual-clock.ts';

/**
 * The pause after reading each of several heads. Times are in seconds; heads arrive `arrivalMs` apart, or as their
 * times say.
 */
function pauseAfter(times: readonly number[], arrival?: Arrival): number {
  return rhythmAfter(times, arrival).pauseMs();
}

/** The rhythm after several heads, in the same units. */
function rhythmAfter(times: readonly number[], { idleMs = 0, arrivalMs }: Arrival = {}) {
  const clock = manualClock();
  const rhythm = blockRhythm({ clock });
  for (const [number, seconds] of times.entries()) {
    const sinceLastMs = (seconds - (times[number - 1] ?? seconds)) * 1_000;
    clock.advance(arrivalMs ?? sinceLastMs);
    rhythm.see({ number, hash: `0x${number}`, time: seconds * 1_000 });
  }
  clock.advance(idleMs);
  return rhythm;
}

interface Arrival {
  readonly idleMs?: number;
  readonly arrivalMs?: number;
}

test('a chain is read once per block time, even after an empty slot', () => {
  expect(pauseAfter([0, 12, 24, 48, 60])).toBe(12_000);
});

test('a chain with fast blocks or a still unknown block time is read every two seconds', () => {
  expect(pauseAfter([0, 0.25, 0.5, 0.75])).toBe(2_000);
  expect(pauseAfter([0, 12])).toBe(2_000);
});

test('a chain with a block per minute is read every 15 seconds', () => {
  expect(pauseAfter([0, 60, 120, 180, 240])).toBe(15_000);
});

test('a chain without a block for twice its block time is read every two seconds', () => {
  expect(pauseAfter([0, 5, 10, 15, 20], { idleMs: 11_000 })).toBe(2_000);
});

test('a chain whose blocks arrive faster than their timestamps, as during a fill, is read every two seconds', () => {
  expect(pauseAfter([0, 60, 120, 180, 240], { arrivalMs: 2_000 })).toBe(2_000);
});

test('a regular chain without a block for ten block times, and a minute at least, stands still', () => {
  const heads = [0, 12, 24, 36, 48, 60, 72, 84, 96];

  expect(rhythmAfter(heads, { idleMs: 119_000 }).standsStill()).toBe(false);
  expect(rhythmAfter(heads, { idleMs: 121_000 }).standsStill()).toBe(true);
  expect(rhythmAfter([0, 12, 24], { idleMs: 3_600_000 }).standsStill()).toBe(false);
});
