import type { Value, ValueType } from '#lib/expression.ts';
import { required } from '../../upstream-json/fields.ts';
import { bigintOrNull, numberOrNull, textOrNull } from '../../upstream-json/values.ts';
import { quantityOrNull, secondsOrNull } from '../normalise/forms.ts';

/**
 * A value of an aggregation: integers come as numbers or, wide ones, as text, times as written moments, and what a row
 * does not have as an empty text.
 * @throws Unreadable for a value of another type.
 */
export function groupValue(value: unknown, type: ValueType, name: string): Value {
  if (value === null || value === '') return null;
  switch (type) {
    case 'integer':
      return required(bigintOrNull(value) ?? bigOrNull(quantityOrNull(value)), name);
    case 'time':
      return required(bigOrNull(secondsOrNull(value)), name);
    case 'real':
      return required(numberOrNull(value), name);
    case 'hex':
      return required(textOrNull(value), name).toLowerCase();
    case 'text':
      return required(textOrNull(value), name);
    case 'boolean':
      return value === true || value === 'true' || value === 1;
  }
}

const DAY_S = 86_400n;

/** The Monday of a day's week, both in seconds. The first day of 1970 was a Thursday. */
export function mondayOf(day: Value): Value {
  if (typeof day !== 'bigint') return day;
  return day - (((day / DAY_S + 3n) % 7n) * DAY_S + (day % DAY_S));
}

function bigOrNull(value: string | number | null): bigint | null {
  return value === null ? null : BigInt(value);
}
