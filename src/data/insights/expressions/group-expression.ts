import { canonicalJson } from '#lib/json.ts';
import type { GroupExpression, Shape } from '#query-model/aggregation-plan.ts';
import type { Fold } from '#query-model/expression.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { type ExpressionSource, invalidAt, quoted } from './expression-source.ts';
import { hasAggregate } from './group-keys.ts';
import type { FunctionCall, Node } from './parse.ts';
import {
  COUNT,
  isAggregate,
  isNumeric,
  onlyArgument,
  REAL,
  resultShape,
  rowOf,
  type TypedRow,
} from './row-expression.ts';

export interface TypedGroupExpression {
  readonly value: GroupExpression;
  readonly shape: Shape;
  /** The expression for one row; null unless it is a key. */
  readonly row: TypedRow | null;
}

/**
 * Turns parsed expressions into expressions over groups of `keys`, and collects the folds they need. Equal folds are
 * collected once.
 */
export function groupCompiler(
  entity: Entity,
  keys: readonly TypedRow[],
): { folds: readonly Fold[]; finish: (source: ExpressionSource, node: Node) => TypedGroupExpression } {
  const folds: Fold[] = [];
  const indexes = new Map<string, number>();
  const keyIndexes = new Map(keys.map(({ expression }, index) => [canonicalJson(expression), index]));

  const indexOf = (fold: Fold): number => {
    const text = canonicalJson(fold);
    const known = indexes.get(text);
    if (known !== undefined) return known;
    indexes.set(text, folds.length);
    return folds.push(fold) - 1;
  };
  const folded = (fold: Fold): GroupExpression => ({ kind: 'fold', index: indexOf(fold) });

  /** @throws InvalidParameter for an expression that is neither aggregated nor a key. */
  const finish = (source: ExpressionSource, node: Node): TypedGroupExpression => {
    if (node.kind === 'number') return { ...literal(node), row: null };
    if (node.kind === 'call' && isAggregate(node)) return { ...aggregate(source, node), row: null };
    if (!hasAggregate(node)) {
      const row = rowOf(entity, source, node);
      const index = keyIndexes.get(canonicalJson(row.expression));
      if (index !== undefined) return { value: { kind: 'key', index }, shape: row.shape, row };
    }
    if (node.kind === 'binary') {
      const left = finish(source, node.left);
      const right = finish(source, node.right);
      const shape = resultShape(node.operator, left.shape, right.shape);
      if (typeof shape === 'string') throw invalidAt(source, node.offset, shape);
      const operands = { left: left.value, right: right.value };
      return { value: { kind: 'arithmetic', operator: node.operator, ...operands }, shape, row: null };
    }
    if (node.kind === 'call' && hasAggregate(node)) {
      throw invalidAt(source, node.offset, `${quoted(node.name)} takes no aggregate`);
    }
    const written = quoted(node.name);
    throw invalidAt(source, node.offset, `${written} is neither aggregated nor in group_by`);
  };

  const aggregate = (source: ExpressionSource, call: FunctionCall): Omit<TypedGroupExpression, 'row'> => {
    const refuse = (at: Node, rule: string) => invalidAt(source, at.offset, rule);
    const name = call.name.toLowerCase();
    if (name !== 'count' && (call.isStar || call.isDistinct)) {
      throw refuse(call, `only count takes "${call.isStar ? '*' : 'distinct'}"`);
    }
    if (name === 'count' && call.args.length === 0) return { value: folded({ kind: 'count' }), shape: COUNT };
    const argument = onlyArgument(call, refuse);
    const { expression: of, shape } = rowOf(entity, source, argument);
    switch (name) {
      case 'count':
        if (call.isDistinct) return distinct({ kind: 'distinct', of });
        return {
          value: folded(of.kind === 'literal' ? { kind: 'count' } : { kind: 'count', of }),
          shape: COUNT,
        };
      case 'countdistinct':
      case 'uniq':
        return distinct({ kind: 'distinct', of });
      case 'min':
      case 'max':
        return { value: folded({ kind: name, of }), shape };
      default: {
        if (!isNumeric(shape)) throw refuse(argument, `${call.name} takes a number`);
        const sum = folded({ kind: 'sum', of });
        if (name === 'sum') return { value: sum, shape: totalOf(shape) };
        const right = folded({ kind: 'count', of });
        return { value: { kind: 'arithmetic', operator: '/', left: sum, right }, shape: REAL };
      }
    }
  };

  const distinct = (fold: Fold): Omit<TypedGroupExpression, 'row'> => ({
    value: { kind: 'size', index: indexOf(fold) },
    shape: COUNT,
  });

  return { folds, finish };
}

/** True when the value depends on the rows of the group. */
export function readsRows(value: GroupExpression): boolean {
  if (value.kind === 'arithmetic') return readsRows(value.left) || readsRows(value.right);
  return value.kind !== 'literal';
}

/** A sum of times is not a time. */
function totalOf({ type, isNumber }: Shape): Shape {
  return { type: type === 'time' ? 'integer' : type, isNumber };
}

function literal({ digits, scale }: Node & { kind: 'number' }): Omit<TypedGroupExpression, 'row'> {
  if (scale === 0) return { value: { kind: 'literal', value: digits }, shape: COUNT };
  return { value: { kind: 'literal', value: Number(digits) / Number(10n ** BigInt(scale)) }, shape: REAL };
}
