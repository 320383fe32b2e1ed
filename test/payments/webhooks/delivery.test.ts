import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  attemptBegun,
  attemptCutOff,
  attemptEnded,
  canRetry,
  type DeliveryState,
  type DeliveryTally,
  HOLD_LIMIT_MS,
  isFinal,
  newDelivery,
  RETRY_DELAYS_MS,
  resumed,
} from '#payments/model/delivery.ts';
import { FAILURE, MANUAL_FAILURE, NOTHING, SUCCESS } from './tallies.ts';

const T0 = 1_795_253_400_000;

/** One attempt that ends at `endedAt`. */
function attempt(
  delivery: DeliveryState,
  isSuccess: boolean,
  {
    kind = 'automatic',
    endedAt = T0,
    jitter = 0,
  }: { kind?: 'automatic' | 'manual'; endedAt?: number; jitter?: number } = {},
) {
  return attemptEnded(attemptBegun(delivery, kind), { isSuccess, endedAt, jitter });
}

function failedTimes(times: number): DeliveryState {
  let delivery = newDelivery({ isTest: false, now: T0 });
  for (let n = 0; n < times; n++) delivery = attempt(delivery, false).delivery;
  return delivery;
}

/** An attempt or a resumption of a delivery after `waitMs`. */
interface Trial {
  kind: 'automatic' | 'manual' | 'resume';
  waitMs: number;
  tookMs: number;
  isSuccess: boolean;
  jitter: number;
}

const STEPS = fc.array(
  fc.record<Trial>({
    kind: fc.constantFrom('automatic', 'manual', 'resume'),
    waitMs: fc.integer({ min: 0, max: HOLD_LIMIT_MS / 8 }),
    tookMs: fc.integer({ min: 0, max: 30_000 }),
    isSuccess: fc.boolean(),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { maxLength: 30 },
);

interface Step extends Pick<Trial, 'kind' | 'isSuccess'> {
  before: DeliveryState;
  after: DeliveryState;
  endedAt: number;
  tally: DeliveryTally;
}

/** Those of the trials that the state of the delivery allows, in order. */
function lifeOf(isTest: boolean, steps: readonly Trial[]): Step[] {
  const life: Step[] = [];
  let delivery = newDelivery({ isTest, now: T0 });
  let now = T0;
  for (const { kind, waitMs, tookMs, isSuccess, jitter } of steps) {
    now += waitMs;
    const before = delivery;
    if (kind === 'resume') {
      delivery = resumed(before, now);
      life.push({ before, after: delivery, kind, endedAt: now, isSuccess: false, tally: NOTHING });
      continue;
    }
    const isDue = before.nextAttemptAt !== null && before.nextAttemptAt <= now;
    const isFirstOfTest = isTest && before.status === 'pending';
    if (kind === 'automatic' ? !isDue : !(canRetry(before) || isFirstOfTest)) continue;
    now += tookMs;
    const ended = attempt(before, isSuccess, { kind, endedAt: now, jitter });
    delivery = ended.delivery;
    life.push({ before, after: delivery, kind, endedAt: now, isSuccess, tally: ended.tally });
  }
  return life;
}

describe('any life of a delivery', () => {
  test('has at most four automatic attempts, and each retry comes at its delay or up to a tenth later', () => {
    fc.assert(
      fc.property(STEPS, steps => {
        const automatic = lifeOf(false, steps).filter(({ kind }) => kind === 'automatic');

        expect(automatic.length).toBeLessThanOrEqual(1 + RETRY_DELAYS_MS.length);
        automatic.forEach(({ after, endedAt, isSuccess }, index) => {
          const delay = RETRY_DELAYS_MS[index];
          if (isSuccess || delay === undefined) expect(after.nextAttemptAt).toBeNull();
          else {
            const waited = Number(after.nextAttemptAt) - endedAt;
            expect(waited).toBeGreaterThanOrEqual(delay);
            expect(waited).toBeLessThanOrEqual(delay * 1.1);
          }
        });
      }),
    );
  });

  test('counts every attempt, at most one success and one failure, and nothing for a test', () => {
    fc.assert(
      fc.property(fc.boolean(), STEPS, (isTest, steps) => {
        const life = lifeOf(isTest, steps);
        const attempts = life.filter(({ kind }) => kind !== 'resume');
        const sum = (of: 'successes' | 'failures') => life.reduce((total, { tally }) => total + tally[of], 0);
        const times = (has: boolean) => (has && !isTest ? 1 : 0);

        expect(life.at(-1)?.after.attempts ?? 0).toBe(attempts.length);
        expect(sum('successes')).toBe(times(attempts.some(({ isSuccess }) => isSuccess)));
        expect(sum('failures')).toBe(times(attempts.some(({ isSuccess }) => !isSuccess)));
        for (const { tally } of life) if (tally.streak === 'grow') expect(tally).toEqual(FAILURE);
      }),
    );
  });

  test('ends with a success, which is final', () => {
    fc.assert(
      fc.property(fc.boolean(), STEPS, (isTest, steps) => {
        for (const { before, after } of lifeOf(isTest, steps)) {
          if (before.status === 'success') expect(after).toEqual(before);
          expect(isFinal(after)).toBe(after.nextAttemptAt === null && after.status !== 'pending');
        }
      }),
    );
  });

  test('keeps its schedule through failed manual retries', () => {
    fc.assert(
      fc.property(STEPS, steps => {
        for (const { before, after, kind, isSuccess, tally } of lifeOf(false, steps)) {
          if (kind !== 'manual' || isSuccess) continue;
          expect(after).toEqual({ ...before, attempts: before.attempts + 1, hasFailed: true });
          expect(tally.streak).toBe('keep');
        }
      }),
    );
  });
});

describe('webhook delivery', () => {
  test('(new) → pending: due at once, and not final', () => {
    const delivery = newDelivery({ isTest: false, now: T0 });

    expect(delivery).toMatchObject({ status: 'pending', attempts: 0, nextAttemptAt: T0 });
    expect([isFinal(delivery), canRetry(delivery)]).toEqual([false, false]);
  });

  test('pending → success: final, and success_count grows', () => {
    const { delivery, tally } = attempt(newDelivery({ isTest: false, now: T0 }), true);

    expect(delivery).toMatchObject({ status: 'success', attempts: 1, nextAttemptAt: null });
    expect([isFinal(delivery), canRetry(delivery)]).toEqual([true, false]);
    expect(tally).toEqual(SUCCESS);
  });

  test.each([
    [1, T0 + 60_000],
    [2, T0 + 600_000],
    [3, T0 + 3_600_000],
  ])('pending → failed: after failure %i the next attempt is at %i', (failures, due) => {
    const delivery = failedTimes(failures);

    expect(delivery).toMatchObject({ status: 'failed', attempts: failures, nextAttemptAt: due });
    expect(isFinal(delivery)).toBe(false);
  });

  test('failed → failed (permanent): no retry follows the third one, but a manual retry is allowed', () => {
    const delivery = failedTimes(4);

    expect(delivery).toMatchObject({ status: 'failed', attempts: 4, nextAttemptAt: null });
    expect([isFinal(delivery), canRetry(delivery)]).toEqual([true, true]);
    expect(() => attemptBegun(delivery, 'automatic')).toThrow();
  });

  test('failed → manual retry: attempts grows by one, and its success ends the schedule', () => {
    const { delivery, tally } = attempt(failedTimes(1), true, { kind: 'manual' });

    expect(delivery).toMatchObject({ status: 'success', attempts: 2, nextAttemptAt: null });
    expect(tally).toEqual(SUCCESS);
  });

  test('only a failed delivery can be retried manually, and not while an attempt is under way', () => {
    const pending = newDelivery({ isTest: false, now: T0 });
    const underWay = attemptBegun(failedTimes(1), 'manual');

    for (const delivery of [pending, attempt(pending, true).delivery, underWay]) {
      expect(canRetry(delivery)).toBe(false);
      expect(() => attemptBegun(delivery, 'manual')).toThrow();
    }
    expect(() => attemptBegun(underWay, 'automatic')).toThrow();
  });

  test('only the first failure of a delivery counts', () => {
    const first = attempt(newDelivery({ isTest: false, now: T0 }), false);
    const second = attempt(first.delivery, false);

    expect([first.tally, second.tally]).toEqual([FAILURE, NOTHING]);
  });

  test('a test is never sent automatically, and is not counted', () => {
    const { delivery, tally } = attempt(newDelivery({ isTest: true, now: T0 }), false, { kind: 'manual' });

    expect(() => attemptBegun(newDelivery({ isTest: true, now: T0 }), 'automatic')).toThrow();
    expect(delivery).toMatchObject({ status: 'failed', attempts: 1, nextAttemptAt: null });
    expect([isFinal(delivery), canRetry(delivery)]).toEqual([true, true]);
    expect([tally, attempt(delivery, true, { kind: 'manual' }).tally]).toEqual([NOTHING, NOTHING]);
  });

  test('a delivery held for 24 hours is sent; one held for longer fails for good, uncounted until a manual retry', () => {
    const held = newDelivery({ isTest: false, now: T0 });
    const expired = resumed(held, T0 + HOLD_LIMIT_MS + 1);

    expect(resumed(held, T0 + HOLD_LIMIT_MS)).toEqual(held);
    expect(expired).toMatchObject({ status: 'failed', attempts: 0, nextAttemptAt: null });
    expect(isFinal(expired)).toBe(true);
    expect(attempt(expired, false, { kind: 'manual' }).tally).toEqual(MANUAL_FAILURE);
  });

  test('a failed delivery held for too long is not retried, and an attempt under way is left alone', () => {
    const late = T0 + HOLD_LIMIT_MS + 1;
    const underWay = attemptBegun(failedTimes(1), 'automatic');

    expect(resumed(failedTimes(1), late)).toMatchObject({
      status: 'failed',
      attempts: 1,
      nextAttemptAt: null,
    });
    expect(resumed(underWay, late)).toEqual(underWay);
    expect(isFinal(underWay)).toBe(false);
  });

  test('an automatic attempt interrupted on our side is no failure, even repeatedly, and is due again at once', () => {
    let delivery = newDelivery({ isTest: false, now: T0 });
    for (let n = 1; n <= 9; n++) delivery = attemptCutOff(attemptBegun(delivery, 'automatic'), T0 + n);

    expect(delivery).toMatchObject({
      status: 'pending',
      attempts: 9,
      automaticFailures: 0,
      hasFailed: false,
    });
    expect(delivery).toMatchObject({ sending: null, nextAttemptAt: T0 + 9 });
    expect(attempt(delivery, false)).toMatchObject({ delivery: { automaticFailures: 1 }, tally: FAILURE });
  });

  test('a manual attempt interrupted on our side keeps the schedule, and a test can be retried', () => {
    const scheduled = failedTimes(1);
    const test = attemptBegun(newDelivery({ isTest: true, now: T0 }), 'manual');

    expect(attemptCutOff(attemptBegun(scheduled, 'manual'), T0)).toEqual({ ...scheduled, attempts: 2 });
    expect(attemptCutOff(test, T0)).toMatchObject({ status: 'failed', sending: null, nextAttemptAt: null });
    expect(canRetry(attemptCutOff(test, T0))).toBe(true);
    expect(() => attemptCutOff(scheduled, T0)).toThrow();
  });

  test.each([-0.1, 1.1, Number.NaN])('a jitter of %d is refused', jitter => {
    const delivery = newDelivery({ isTest: false, now: T0 });

    expect(() => attempt(delivery, false, { jitter })).toThrow(RangeError);
  });
});
