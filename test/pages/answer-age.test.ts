import { expect, test } from 'vitest';
import { agoText, loadedAt } from '#pages/browser/moment.ts';
import { pauseAfter } from '#pages/browser/problem.ts';

const NOON = Date.UTC(2026, 0, 1, 12);

test('the age of an answer counts from the time when the server loaded it', () => {
  const stored = new Headers({ Date: new Date(NOON).toUTCString(), Age: '30' });

  expect(loadedAt(stored, NOON)).toBe(NOON - 30_000);
  // From the browser's cache.
  expect(loadedAt(stored, NOON + 3_600_000)).toBe(NOON - 30_000);
  // The reader's clock is slow.
  expect(loadedAt(stored, NOON - 60_000)).toBe(NOON - 90_000);
  expect(loadedAt(new Headers(), NOON)).toBe(NOON);
});

test('only the last seconds are "just now"', () => {
  expect(agoText(-4)).toBe('just now');
  expect(agoText(-5)).toBe('5 seconds ago');
  expect(agoText(-119)).toBe('1 minute ago');
  expect(agoText(30)).toBe('in 30 seconds');
});

test('a missing record is asked for at growing intervals, eight times', () => {
  const pauses = Array.from({ length: 8 }, (_, index) =>
    pauseAfter(
      { status: 404, retryAfterMs: undefined },
      { everyMs: 15_000, isMissing: true, failures: index + 1 },
    ),
  );

  expect(pauses).toEqual([3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000, undefined]);
});

test('only a temporary problem is retried when the request is not repeated otherwise', () => {
  const once = { everyMs: undefined, isMissing: false, failures: 1 };

  expect(pauseAfter({ status: undefined, retryAfterMs: undefined }, once)).toBe(3_000);
  expect(pauseAfter({ status: 503, retryAfterMs: 9_000 }, once)).toBe(9_000);
  expect(pauseAfter({ status: 503, retryAfterMs: undefined }, once)).toBeUndefined();
  expect(pauseAfter({ status: 502, retryAfterMs: undefined }, once)).toBeUndefined();
  expect(pauseAfter({ status: 403, retryAfterMs: undefined }, { ...once, everyMs: 5_000 })).toBeUndefined();
});
