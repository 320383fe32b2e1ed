import type { ArithmeticOperator } from '#query-model/expression.ts';
import { type ExpressionSource, invalidAt, quoted, type Token, tokensOf } from './expression-source.ts';

/** A parsed expression. Its names are not resolved yet. */
export type Node =
  /** `digits` without the decimal point, the last `scale` of which are the fraction. */
  | { readonly kind: 'number'; readonly offset: number; readonly digits: bigint; readonly scale: number }
  | { readonly kind: 'name'; readonly offset: number; readonly name: string }
  | FunctionCall
  | {
      readonly kind: 'binary';
      readonly offset: number;
      readonly operator: ArithmeticOperator;
      readonly left: Node;
      readonly right: Node;
    };

export interface FunctionCall {
  readonly kind: 'call';
  readonly offset: number;
  /** Name as written. */
  readonly name: string;
  readonly isStar: boolean;
  readonly isDistinct: boolean;
  readonly args: readonly Node[];
}

/** One of the listed expressions of a value. */
export interface ListedExpression {
  readonly source: ExpressionSource;
  readonly offset: number;
  readonly node: Node;
  /** The expression as written, without surrounding spaces and alias. */
  readonly text: string;
  readonly alias?: { readonly name: string; readonly offset: number };
}

const MAX_DEPTH = 8;
const MAX_NODES = 64;

/**
 * Parses the expressions of one value. In the grammar of Decision 83, `+` and `-` bind weaker than `*`, `/` and `%`;
 * all are left-associative.
 * @throws InvalidParameter for a syntax error, or an expression that is too long or too deep.
 */
export function parse(source: ExpressionSource): ListedExpression[] {
  const tokens = tokensOf(source);
  const last: Token = tokens.at(-1) ?? { kind: 'end', text: '', offset: 0, end: 0 };
  let next = 0;
  let depth = 0;
  let nodes = 0;

  const peek = (): Token => tokens[next] ?? last;
  const take = (): Token => {
    const token = peek();
    next += 1;
    return token;
  };
  const sees = (...symbols: readonly string[]) => peek().kind === 'symbol' && symbols.includes(peek().text);
  const seesWord = (word: string) => peek().kind === 'name' && peek().text.toLowerCase() === word;
  const expect = (symbol: string) => {
    if (!sees(symbol)) throw unexpected(`"${symbol}"`);
    next += 1;
  };
  const unexpected = (wanted: string) => {
    const { kind, text, offset } = peek();
    return invalidAt(
      source,
      offset,
      `expected ${wanted}, found ${kind === 'end' ? 'the end' : quoted(text)}`,
    );
  };
  const counted = <N extends Node>(node: N): N => {
    nodes += 1;
    if (nodes > MAX_NODES) throw invalidAt(source, node.offset, `more than ${MAX_NODES} parts`);
    return node;
  };
  const nested = <T>(work: () => T): T => {
    depth += 1;
    if (depth > MAX_DEPTH) throw invalidAt(source, peek().offset, `nested deeper than ${MAX_DEPTH}`);
    const result = work();
    depth -= 1;
    return result;
  };

  const chain = (operators: readonly ArithmeticOperator[], operand: () => Node): Node => {
    let left = operand();
    for (;;) {
      const operator = operators.find(one => sees(one));
      if (operator === undefined) return left;
      const { offset } = take();
      left = counted({ kind: 'binary', offset, operator, left, right: operand() });
    }
  };
  const expression = (): Node => chain(['+', '-'], () => chain(['*', '/', '%'], factor));

  const factor = (): Node => {
    if (sees('(')) {
      take();
      const inner = nested(expression);
      expect(')');
      return inner;
    }
    const token = peek();
    if (token.kind === 'number') {
      take();
      return counted(numberOf(token));
    }
    if (token.kind !== 'name') throw unexpected('an expression');
    take();
    if (!sees('(')) return counted({ kind: 'name', offset: token.offset, name: token.text });
    take();
    return counted(nested(() => call(token)));
  };

  const call = ({ text: name, offset }: Token): FunctionCall => {
    const plain = { kind: 'call', offset, name, isStar: false, isDistinct: false, args: [] } as const;
    if (sees(')')) {
      take();
      return plain;
    }
    if (sees('*')) {
      take();
      expect(')');
      return { ...plain, isStar: true };
    }
    const isDistinct = seesWord('distinct');
    if (isDistinct) take();
    const args = [expression()];
    while (sees(',')) {
      take();
      args.push(expression());
    }
    expect(')');
    return { ...plain, isDistinct, args };
  };

  const item = (): ListedExpression => {
    const { offset } = peek();
    const node = expression();
    const text = source.text.slice(offset, tokens[next - 1]?.end ?? offset);
    if (!seesWord('as')) return { source, offset, node, text };
    take();
    const token = peek();
    if (token.kind !== 'name') throw unexpected('an alias');
    take();
    return { source, offset, node, text, alias: { name: token.text, offset: token.offset } };
  };

  const items = [item()];
  while (sees(',')) {
    take();
    items.push(item());
  }
  if (peek().kind !== 'end') throw unexpected('an operator, "as", a comma or the end');
  return items;
}

function numberOf({ text, offset }: Token): Node {
  const [whole = '', fraction = ''] = text.split('.');
  return { kind: 'number', offset, digits: BigInt(whole + fraction), scale: fraction.length };
}
