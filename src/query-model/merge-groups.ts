import { type Fold, type Group, isNumber, type Value } from './expression.ts';

/**
 * Merges lists of groups: groups with equal keys become one. No list may hold a group twice. Without keys the result is
 * always one group, even when there were no rows. Lists can be long, so values are copied only where groups meet.
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

/** Group merged from the rows of one or several chains. */
export interface MergedGroup {
  readonly keys: readonly Value[];
  /** Values of `distinct` folds are lists or sets without duplicates. */
  readonly folds: readonly FoldedValue[];
}

/** Values of the folds when there are no rows. */
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

/** Exact for integers. Null when the sum is not finite. */
function sum(left: Value, right: Value): Value {
  if (typeof left === 'bigint' && typeof right === 'bigint') return left + right;
  const total = Number(left) + Number(right);
  return Number.isFinite(total) ? total : null;
}

/** Union of two lists. A set is extended in place, because only an earlier union creates sets. */
function union(before: FoldedValue | undefined, added: FoldedValue | undefined): ReadonlySet<Value> {
  const values = before instanceof Set ? before : new Set<Value>(valuesOf(before));
  for (const value of valuesOf(added)) values.add(value);
  return values;
}

function valuesOf(folded: FoldedValue | undefined): Iterable<Value> {
  return isMany(folded) ? folded : [];
}

/** Value of a fold other than `distinct`. */
export function single(folded: FoldedValue | undefined): Value {
  return folded === undefined || isMany(folded) ? null : folded;
}

/** Number of values in a `distinct` fold. */
export function sizeOf(folded: FoldedValue | undefined): bigint {
  if (!isMany(folded)) return 0n;
  return BigInt('size' in folded ? folded.size : folded.length);
}

function isMany(folded: FoldedValue | undefined): folded is readonly Value[] | ReadonlySet<Value> {
  return typeof folded === 'object' && folded !== null;
}

/** Map key that is unique per list of keys. An integer and the same digits as text give different map keys. */
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

/** Ascending order of two values other than null: numbers by amount, everything else as text. */
export function compareValues(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compared(left, right);
  if (isNumber(left) && isNumber(right)) return compared(left, right);
  return compared(String(left), String(right));
}

function compared<T extends string | number | bigint>(left: T, right: T): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
