import type { Fold, Group, Value } from '#lib/expression.ts';

type FoldValue = Group['folds'][number];

/** Groups with equal keys made one. Values of `distinct` are lists already. */
export function mergeUpstreamGroups(groups: readonly Group[], folds: readonly Fold[]): Group[] {
  const merged = new Map<string, Group>();
  for (const group of groups) {
    const key = keyOf(group.keys);
    const before = merged.get(key);
    const both = before === undefined ? group : { keys: group.keys, folds: added(before, group, folds) };
    merged.set(key, both);
  }
  return [...merged.values()];
}

/** Text that is the same for the same values only. */
export function keyOf(values: readonly Value[]): string {
  return JSON.stringify(values.map(value => [typeof value, String(value)]));
}

function added(a: Group, b: Group, folds: readonly Fold[]): FoldValue[] {
  return folds.map(({ kind }, index) => addedValue(kind, a.folds[index] ?? null, b.folds[index] ?? null));
}

function addedValue(kind: Fold['kind'], a: FoldValue, b: FoldValue): FoldValue {
  if (isList(a) || isList(b)) return [...new Set([...listOf(a), ...listOf(b)])];
  if (a === null || b === null) return a ?? b;
  if (kind === 'min') return isLess(b, a) ? b : a;
  if (kind === 'max') return isLess(a, b) ? b : a;
  return typeof a === 'bigint' && typeof b === 'bigint' ? a + b : Number(a) + Number(b);
}

function isList(value: FoldValue): value is readonly Value[] {
  return Array.isArray(value);
}

function listOf(value: FoldValue): readonly Value[] {
  return isList(value) ? value : [];
}

/** Both have the type of the same expression. */
function isLess(a: NonNullable<Value>, b: NonNullable<Value>): boolean {
  return a < b;
}
