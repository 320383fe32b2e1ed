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

/** A piece of an expression. `offset` counts UTF-16 units from 0, `end` is behind the last one. */
export interface Token {
  readonly kind: 'number' | 'name' | 'symbol' | 'end';
  readonly text: string;
  readonly offset: number;
  readonly end: number;
}

/** Characters of one value. Source: research on what the original accepted. */
const MAX_CHARACTERS = 512;
/** The longest integer of 256 bits. */
const MAX_DIGITS = 78;

const PIECE = /[ \t\r\n]*(?:([0-9]+(?:\.[0-9]+)?)|([A-Za-z_][A-Za-z0-9_]*)|([(),+\-*/%]))/y;
const BLANKS = /[ \t\r\n]*/y;

/** Cuts a value into pieces; the last one is of kind `end`. @throws InvalidParameter */
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
