import type { Value } from '#lib/expression.ts';
import type { Shape } from '../expressions/row-expression.ts';

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);
/** The last millisecond of a JavaScript date. */
const MAX_DATE_MS = 8_640_000_000_000_000n;

/**
 * A value as JSON has it (Decision 82): exact integers of number fields are numbers up to 2^53 - 1 and decimal text
 * beyond, those of others always text; what has a fraction is a number; the start of a span of time is ISO 8601 text.
 */
export function written(value: Value, { type, isNumber }: Shape): string | number | boolean | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'bigint') return value;
  if (type === 'real') return Number(value);
  if (type === 'moment') return momentText(value);
  return isNumber && value <= MAX_SAFE && value >= -MAX_SAFE ? Number(value) : String(value);
}

function momentText(seconds: bigint): string {
  const ms = seconds * 1000n;
  // No chain's clock gets there, but a broken node may say so.
  if (ms > MAX_DATE_MS || ms < -MAX_DATE_MS) return String(seconds);
  return new Date(Number(ms)).toISOString();
}
