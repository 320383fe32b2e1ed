/** Items in turns: the first of each group, then the second of each, and so on. A group keeps its order. */
export function inTurns<Item>(items: readonly Item[], groupOf: (item: Item) => string): Item[] {
  const groups = Map.groupBy(items, groupOf);
  return [...groups.values()]
    .flatMap(group => group.map((item, turn) => ({ item, turn })))
    .sort((a, b) => a.turn - b.turn)
    .map(({ item }) => item);
}

/** The same items from another beginning, so that with each step others come first. */
export function inRotation<Item>(items: readonly Item[], step: number): Item[] {
  const start = items.length === 0 ? 0 : step % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
