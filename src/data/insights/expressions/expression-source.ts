import { InvalidParameter } from '#contract/contracts/violations.ts';

/** One value of `aggregate` or `group_by` as it was given, and where it was given. */
export interface ExpressionSource {
  readonly parameter: 'aggregate' | 'group_by';
  readonly text: string;
  /** Place among the values of the parameter, from 0; undefined when it is the only one. */
  readonly index?: number;
}

/** The values of a parameter, each with its place when there are several. */
export function sourcesOf(
  parameter: ExpressionSource['parameter'],
  values: readonly string[],
): ExpressionSource[] {
  return values.map((text, index) => (values.length > 1 ? { parameter, text, index } : { parameter, text }));
}

/** A 400 that names the parameter, the value when there are several, and the character, counted from 1. */
export function invalidAt(source: ExpressionSource, offset: number, rule: string): InvalidParameter {
  const value = source.index === undefined ? '' : `value ${source.index + 1}: `;
  return new InvalidParameter(source.parameter, `${value}${rule} at position ${offset + 1}`);
}

/** What was written, short enough for a sentence. */
export function quoted(text: string): string {
  return text.length > 40 ? `"${text.slice(0, 40)}…"` : `"${text}"`;
}
