import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DeliveryTally } from '#payments/model/delivery.ts';
import {
  activityChanged,
  FAILURES_TO_DISABLE,
  NEW_ACTIVITY,
  tallied,
  type WebhookActivity,
} from '#payments/model/webhook.ts';
import { FAILURE, MANUAL_FAILURE, NOTHING, SUCCESS } from './tallies.ts';

const T0 = 1_795_253_400_000;
const MINUTE_MS = 60_000;
/** The rule of test mode. */
const AT_ONCE = { now: T0, disableAfterMs: 0 };

const NO_STREAK = { failuresInARow: 0, failingSince: null };

function activityAfter(tallies: readonly DeliveryTally[], start = NEW_ACTIVITY): WebhookActivity {
  return tallies.reduce((activity, tally) => tallied(activity, tally, AT_ONCE).activity, start);
}
const nine = activityAfter(Array.from({ length: FAILURES_TO_DISABLE - 1 }, () => FAILURE));
const disabled = activityAfter([FAILURE], nine);

test('consecutive failed deliveries → disabled automatically: at the tenth, with one mail', () => {
  const tenth = tallied(nine, FAILURE, { ...AT_ONCE, now: T0 + 5 });
  const eleventh = tallied(tenth.activity, FAILURE, { ...AT_ONCE, now: T0 + 6 });

  expect(nine.isActive).toBe(true);
  expect(tenth).toEqual({
    activity: {
      ...nine,
      isActive: false,
      disabledReason: 'too_many_failures',
      disabledAt: T0 + 5,
      failuresInARow: 10,
      failureCount: 10,
    },
    turn: 'disabled',
  });
  expect(eleventh.turn).toBeUndefined();
  expect(eleventh.activity.disabledAt).toBe(T0 + 5);
});

test('in any mix of successes and failures, it is disabled exactly after ten consecutive failures', () => {
  const tallies = fc.array(
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(FAILURE) },
      { weight: 1, arbitrary: fc.constant(SUCCESS) },
      { weight: 3, arbitrary: fc.constantFrom(NOTHING, MANUAL_FAILURE) },
    ),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(tallies, all => {
      const letters = all.map(({ streak: row }) => ({ grow: 'f', reset: 's', keep: '' })[row]).join('');
      const { isActive, successCount, failureCount } = activityAfter(all);

      expect(isActive).toBe(!letters.includes('f'.repeat(FAILURES_TO_DISABLE)));
      expect(successCount).toBe(all.filter(tally => tally === SUCCESS).length);
      expect(failureCount).toBe(all.filter(({ failures }) => failures === 1).length);
    }),
  );
});

test('is_active true → PATCH with is_active false: disabled without a reason, and failures still count', () => {
  const off = activityChanged(nine, { isActive: false, hasNewUrl: false });
  const tenth = tallied(off, FAILURE, AT_ONCE);

  expect(off).toEqual({ ...nine, isActive: false });
  expect(tenth).toEqual({
    activity: { ...off, failuresInARow: 10, failureCount: 10 },
  });
});

test('re-enabling by the owner clears the reason and resets consecutive failures', () => {
  const on = activityChanged(disabled, { isActive: true, hasNewUrl: false });

  expect(on).toEqual({ ...NEW_ACTIVITY, failureCount: 10 });
  expect(activityChanged(disabled, { isActive: false, hasNewUrl: false })).toEqual(disabled);
});

test('a new url resets consecutive failures without enabling; other changes of an active webhook do not', () => {
  expect(activityChanged(nine, { hasNewUrl: true })).toEqual({ ...nine, ...NO_STREAK });
  expect(activityChanged(disabled, { hasNewUrl: true })).toEqual({ ...disabled, ...NO_STREAK });
  expect(activityChanged(nine, { isActive: true, hasNewUrl: false })).toEqual(nine);
});

test('a success after the tenth failure resets consecutive failures without enabling', () => {
  expect(activityAfter([SUCCESS], disabled)).toEqual({ ...disabled, ...NO_STREAK, successCount: 1 });
});

test('ten failures within seconds disable nothing, a later one does', () => {
  const live = { now: T0, disableAfterMs: 10 * MINUTE_MS };
  let webhook = NEW_ACTIVITY;
  for (let i = 0; i < 40; i += 1) webhook = tallied(webhook, FAILURE, { ...live, now: T0 + i }).activity;

  const early = tallied(webhook, FAILURE, { ...live, now: T0 + 10 * MINUTE_MS - 1 });
  const retry = tallied(webhook, NOTHING, { ...live, now: T0 + 10 * MINUTE_MS });
  const late = tallied(webhook, FAILURE, { ...live, now: T0 + 10 * MINUTE_MS });

  expect(webhook).toMatchObject({ isActive: true, failuresInARow: 40, failingSince: T0 });
  expect(early.activity.isActive).toBe(true);
  expect(retry.activity.isActive).toBe(true);
  expect(late).toMatchObject({ turn: 'disabled', activity: { isActive: false, failuresInARow: 41 } });
});

test('a success restarts the time of failing as well', () => {
  const live = { now: T0 + 20 * MINUTE_MS, disableAfterMs: 10 * MINUTE_MS };
  const again = activityAfter([SUCCESS], nine);
  const ten = Array.from({ length: FAILURES_TO_DISABLE }, () => FAILURE);
  const after = ten.reduce((activity, tally) => tallied(activity, tally, live).activity, again);

  expect(after).toMatchObject({ isActive: true, failuresInARow: 10, failingSince: live.now });
});

test('the fifth failure in a row warns, once', () => {
  const turns = Array.from({ length: 9 }, (_, i) => {
    const before = activityAfter(Array.from({ length: i }, () => FAILURE));
    return tallied(before, FAILURE, AT_ONCE).turn;
  });

  expect(turns.map((turn, i) => [i + 1, turn]).filter(([, turn]) => turn !== undefined)).toEqual([
    [5, 'warned'],
  ]);
});
