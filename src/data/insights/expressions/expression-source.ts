import { InvalidParameter } from '#contract/contracts/violations.ts';

/** One value of `aggregate` or `group_by`, with its position in the request. */
export interface ExpressionSource {
  readonly parameter: 'aggregate' | 'group_by';
  readonly text: string;
  /** Index among the values of the parameter, from 0; undefined when it is the only one. */
  readonly index?: number;
}

/** Values of a parameter, with an index when there are several. */
export function sourcesOf(
  parameter: ExpressionSource['parameter'],
  values: readonly string[],
): ExpressionSource[] {
  return values.map((text, index) => (values.length > 1 ? { parameter, text, index } : { parameter, text }));
}

/** A 400 that names the parameter, the value if there are several, and the character position from 1. */
export function invalidAt(source: ExpressionSource, offset: number, rule: string): InvalidParameter {
  const value = source.index === undefined ? '' : `value ${source.index + 1}: `;
  return new InvalidParameter(source.parameter, `${value}${rule} at position ${offset + 1}`);
}

/** Quotes the text in a message, shortened to 40 characters. */
export function quoted(text: string): string {
  return text.length > 40 ? `"${text.slice(0, 40)}…"` : `"${text}"`;
}

/** One token of an expression. `offset` counts UTF-16 units from 0; `end` is the offset after the last one. */
export interface Token {
  readonly kind: 'number' | 'name' | 'symbol' | 'end';
  readonly text: string;
  readonly offset: number;
  readonly end: number;
}

/** Maximum number of characters of one value. Source: research on the limits of the original service. */
const MAX_CHARACTERS = 512;
/** Digits of the largest 256-bit integer. */
const MAX_DIGITS = 78;

const PIECE = /[ \t\r\n]*(?:([0-9]+(?:\.[0-9]+)?)|([A-Za-z_][A-Za-z0-9_]*)|([(),+\-*/%]))/y;
const BLANKS = /[ \t\r\n]*/y;

/**
 * Splits a value into tokens; the last one has the kind `end`.
 * @throws InvalidParameter for an unknown character, a malformed number, or a value that is too long.
 */
export function tokensOf(source: ExpressionSource): Token[] {
  const { text } = source;
  if (text.length > MAX_CHARACTERS) {
    throw invalidAt(source, MAX_CHARACTERS, `must have at most ${MAX_CHARACTERS} characters, is too long`);
  }
  const tokens: Token[] = [];
  let offset = 0;
  for (;;) {
    PIECE.lastIndex = offset;
    const match = PIECE.exec(text);
    if (match === null) break;
    const token = tokenOf(match, PIECE.lastIndex);
    const before = tokens.at(-1);
    if (token.kind === 'name' && before?.kind === 'number' && before.end === token.offset) {
      throw invalidAt(source, before.offset, `${quoted(before.text + token.text)} is not a number`);
    }
    if (token.kind === 'number' && token.text.length > MAX_DIGITS) {
      throw invalidAt(source, token.offset, `a number must have at most ${MAX_DIGITS} digits`);
    }
    tokens.push(token);
    offset = token.end;
  }
  BLANKS.lastIndex = offset;
  BLANKS.exec(text);
  const end = BLANKS.lastIndex;
  if (end < text.length) {
    throw invalidAt(source, end, `unexpected ${quoted(String.fromCodePoint(text.codePointAt(end) ?? 0))}`);
  }
  return [...tokens, { kind: 'end', text: '', offset: end, end }];
}

function tokenOf([, number, name, symbol]: RegExpExecArray, end: number): Token {
  const text = number ?? name ?? symbol ?? '';
  const kind = number !== undefined ? 'number' : name !== undefined ? 'name' : 'symbol';
  return { kind, text, offset: end - text.length, end };
}
