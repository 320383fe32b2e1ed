import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DAY_MS } from '#lib/clock.ts';
import { type Calendar, calendarOf } from '#payments/stats/calendar.ts';

const HOUR_MS = 3_600_000;

function calendar(timeZone: string): Calendar {
  const found = calendarOf(timeZone);
  if (found === undefined) throw new Error(`no calendar of ${timeZone}`);
  return found;
}

const dayOf = (date: string) => Date.parse(`${date}T00:00:00Z`) / DAY_MS;
const day = (timeZone: string, date: string) =>
  calendar(timeZone).periods('day', { first: dayOf(date), last: dayOf(date) })[0];

test.each([
  ['UTC', '2026-03-29', '2026-03-29T00:00:00.000Z', 24],
  ['Europe/Berlin', '2026-03-28', '2026-03-27T23:00:00.000Z', 24],
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z', 23],
  ['Europe/Berlin', '2026-10-25', '2026-10-24T22:00:00.000Z', 25],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z', 25],
  ['Asia/Kolkata', '2026-01-01', '2025-12-31T18:30:00.000Z', 24],
  ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z', 24],
  ['Etc/GMT+12', '2026-01-01', '2026-01-01T12:00:00.000Z', 24],
  // The clocks of Lord Howe move by half an hour.
  ['Australia/Lord_Howe', '2026-04-05', '2026-04-04T13:00:00.000Z', 24.5],
  // Midnight does not exist, or comes twice.
  ['Asia/Beirut', '2024-03-31', '2024-03-30T22:00:00.000Z', 23],
  ['Asia/Beirut', '2024-10-26', '2024-10-25T21:00:00.000Z', 25],
  ['America/Toronto', '1919-03-31', '1919-03-31T04:30:00.000Z', 23.5],
  // Samoa went over the date line, and skipped this day.
  ['Pacific/Apia', '2011-12-30', '2011-12-30T10:00:00.000Z', 0],
])('in %s %s begins at %s and has %d hours', (timeZone, date, from, hours) => {
  const found = day(timeZone, date);

  expect(found?.name).toBe(date);
  expect(new Date(found?.from ?? 0).toISOString()).toBe(from);
  expect(((found?.to ?? 0) - (found?.from ?? 0)) / HOUR_MS).toBe(hours);
});

test('months are whole, from that of the first day to that of the last one', () => {
  const months = calendar('Europe/Berlin').periods('month', {
    first: dayOf('2025-12-31'),
    last: dayOf('2026-03-01'),
  });

  expect(months.map(({ name }) => name)).toEqual(['2025-12', '2026-01', '2026-02', '2026-03']);
  expect(months.map(({ from, to }) => (to - from) / HOUR_MS)).toEqual([744, 744, 672, 743]);
  expect(new Date(months.at(-1)?.to ?? 0).toISOString()).toBe('2026-03-31T22:00:00.000Z');
});

test('days of any zone follow each other, and hold the moments that its clocks show as that day', () => {
  const zones = Intl.supportedValuesOf('timeZone');
  // From 1972 on, when the last zone gave up an offset with seconds.
  const first = fc.integer({ min: dayOf('1972-01-08'), max: dayOf('2037-12-01') });

  fc.assert(
    fc.property(fc.constantFrom(...zones), first, (zone, start) => {
      const clocks = calendar(zone);
      const days = clocks.periods('day', { first: start, last: start + 6 });
      const [month] = clocks.periods('month', { first: start, last: start });

      expect(days).toHaveLength(7);
      for (const [index, { from, to }] of days.entries()) {
        expect(to).toBe(days[index + 1]?.from ?? to);
        // Whole minutes: Kiritimati was 10 hours and 40 minutes behind UTC until 1979.
        expect(from % 60_000).toBe(0);
        if (from === to) continue;
        expect([zone, clocks.dayAt(from), clocks.dayAt(to - 1)]).toEqual([
          zone,
          start + index,
          start + index,
        ]);
      }
      expect(month?.from).toBeLessThanOrEqual(days[0]?.from ?? 0);
      expect(month?.to).toBeGreaterThan(days[0]?.from ?? 0);
    }),
    { numRuns: 300 },
  );
});

test.each(['Europe/Nowhere', '', 'Berlin', '+01:00x', '+00:07', '-05:00', '+03'])(
  'there is no calendar of %j',
  name => {
    expect(calendarOf(name)).toBeUndefined();
  },
);
