import { DAY_MS } from '../../lib/clock.ts';

/** A day or a month of a time zone. It is empty if the clocks skipped it. */
export interface CalendarPeriod {
  /** `2026-11-21` or `2026-11`. */
  readonly name: string;
  /** UTC milliseconds, inclusive. */
  readonly from: number;
  /** UTC milliseconds, exclusive. */
  readonly to: number;
}

/** Days of the calendar, counted from 1970, both included. */
interface DaySpan {
  readonly first: number;
  readonly last: number;
}

/** Calendar of a time zone. */
export interface Calendar {
  /** Day at a time in UTC milliseconds, counted from 1970. */
  dayAt(time: number): number;
  /** Days or months from that of the first day to that of the last one, oldest first. */
  periods(interval: 'day' | 'month', days: DaySpan): CalendarPeriod[];
}

/** Calendar of a time zone of the IANA database; undefined for another name. */
export function calendarOf(timeZone: string): Calendar | undefined {
  const format = formatOf(timeZone);
  if (format === undefined) return undefined;

  /** Time of the zone's clocks, as UTC milliseconds of the same clock time. */
  const clockTime = (time: number): number => {
    const parts = new Map(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]));
    const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
    const whole = Date.UTC(
      part('year'),
      part('month') - 1,
      part('day'),
      part('hour'),
      part('minute'),
      part('second'),
    );
    return whole + (((time % 1_000) + 1_000) % 1_000);
  };
  const dayAt = (time: number) => Math.floor(clockTime(time) / DAY_MS);

  /** First moment of a day. Clocks may change at midnight or over it. */
  const startOf = (day: number): number => {
    const midnight = day * DAY_MS;
    // Offsets from UTC are less than a day.
    let [before, start] = [midnight - DAY_MS, midnight + DAY_MS];
    for (const near of [before, start]) {
      const usual = midnight - (clockTime(near) - near);
      if (dayAt(usual) >= day && dayAt(usual - 1) < day) return usual;
    }
    while (start - before > 1) {
      const middle = Math.floor((before + start) / 2);
      if (dayAt(middle) >= day) start = middle;
      else before = middle;
    }
    return start;
  };

  return {
    dayAt,
    periods(interval, days) {
      const starts = interval === 'day' ? daysOf(days) : monthsOf(days);
      const length = interval === 'day' ? 10 : 7;
      let from = startOf(starts[0] ?? 0);
      return starts.slice(1).map((next, index) => {
        const name = new Date((starts[index] ?? 0) * DAY_MS).toISOString().slice(0, length);
        const period = { name, from, to: startOf(next) };
        from = period.to;
        return period;
      });
    },
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat | undefined {
  // An offset such as +00:07 is no name, and its days need not begin at a quarter of an hour.
  if (/^[+-]/.test(timeZone)) return undefined;
  try {
    const style = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    const clock = { hour: 'numeric', minute: 'numeric', second: 'numeric', hourCycle: 'h23' } as const;
    return new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', { ...style, ...clock, timeZone });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Days of the span, and the one after it. */
function daysOf({ first, last }: DaySpan): number[] {
  return Array.from({ length: last - first + 2 }, (_, index) => first + index);
}

/** First days of the months of the span, and of the month after it. */
function monthsOf({ first, last }: DaySpan): number[] {
  const month = monthNumber(first);
  return Array.from(
    { length: monthNumber(last) - month + 2 },
    (_, index) => Date.UTC(0, month + index) / DAY_MS,
  );
}

/** Month of a day, counted from the year 1900, as `Date.UTC` counts from the year 0. */
export function monthNumber(day: number): number {
  const date = new Date(day * DAY_MS);
  return (date.getUTCFullYear() - 1900) * 12 + date.getUTCMonth();
}
