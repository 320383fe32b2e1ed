import type { Fold, Group, Value } from './expression.ts';

/**
 * Merges lists of groups into one: groups with the same keys become one group. No list has a group twice. Without keys
 * the result is always one group, also when there were no rows. Lists can be long, so values are copied only where two
 * groups meet.
 */
export function mergeGroups(
  { keys, folds }: { readonly keys: readonly unknown[]; readonly folds: readonly Fold[] },
  lists: readonly (readonly Group[])[],
): readonly MergedGroup[] {
  const [first = [], ...others] = lists.filter(list => list.length > 0);
  if (first.length === 0) return keys.length > 0 ? [] : [{ keys: [], folds: noRows(folds) }];
  if (others.length === 0) return first;
  const merged = new Map<Value, MergedGroup>();
  for (const group of first) merged.set(identityOf(group.keys), group);
  for (const group of others.flat()) {
    const identity = identityOf(group.keys);
    const before = merged.get(identity);
    merged.set(identity, before === undefined ? group : both(folds, before, group));
  }
  return [...merged.values()];
}

type FoldedValue = Value | readonly Value[] | ReadonlySet<Value>;

/** A group that rows of one or several chains made. */
export interface MergedGroup {
  readonly keys: readonly Value[];
  /** Those of `distinct` are lists or sets without the same value twice. */
  readonly folds: readonly FoldedValue[];
}

/** Values of these folds over no rows at all. */
export function noRows(folds: readonly Fold[]): Group['folds'] {
  return folds.map(({ kind }) => (kind === 'distinct' ? [] : kind === 'count' ? 0n : null));
}

function both(folds: readonly Fold[], before: MergedGroup, added: Group): MergedGroup {
  return {
    keys: before.keys,
    folds: folds.map((fold, index) =>
      fold.kind === 'distinct'
        ? union(before.folds[index], added.folds[index])
        : bothValues(fold.kind, single(before.folds[index]), single(added.folds[index])),
    ),
  };
}

function bothValues(kind: Exclude<Fold['kind'], 'distinct'>, before: Value, added: Value): Value {
  if (before === null || added === null) return before ?? added;
  if (kind === 'min') return compareValues(added, before) < 0 ? added : before;
  if (kind === 'max') return compareValues(added, before) > 0 ? added : before;
  return sum(before, added);
}

/** Exact for integers; null where the sum is beyond all numbers. */
function sum(left: Value, right: Value): Value {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left + right;
  const total = Number(left) + Number(right);
  return Number.isFinite(total) ? total : null;
}

/** A set is one of these results already, and grows in place. */
function union(before: FoldedValue | undefined, added: FoldedValue | undefined): ReadonlySet<Value> {
  const values = before instanceof Set ? before : new Set<Value>(valuesOf(before));
  for (const value of valuesOf(added)) values.add(value);
  return values;
}

function valuesOf(folded: FoldedValue | undefined): Iterable<Value> {
  return isMany(folded) ? folded : [];
}

/** The value of a fold that is none of `distinct`. */
export function single(folded: FoldedValue | undefined): Value {
  return folded === undefined || isMany(folded) ? null : folded;
}

/** How many values a `distinct` has. */
export function sizeOf(folded: FoldedValue | undefined): bigint {
  if (!isMany(folded)) return 0n;
  return BigInt('size' in folded ? folded.size : folded.length);
}

function isMany(folded: FoldedValue | undefined): folded is readonly Value[] | ReadonlySet<Value> {
  return typeof folded === 'object' && folded !== null;
}

/** Different for different values; an integer and the same text are different values. */
export function identityOf(keys: readonly Value[]): Value {
  const [only] = keys;
  if (only !== undefined && keys.length === 1) return only;
  let text = '';
  for (const key of keys) {
    text +=
      typeof key === 'string' ? `"${key.length}:${key}` : `${typeof key === 'bigint' ? 'i' : ''}${key},`;
  }
  return text;
}

/** Rising order of two values that are not null: numbers by amount, all else by its text. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compared(left, right);
  if (isNumber(left) && isNumber(right)) return compared(left, right);
  return compared(String(left), String(right));
}

function compared<T extends string | number | bigint>(left: T, right: T): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function isNumber(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number';
}
