/**
 * Items in turns: the first of each group, then the second of each, and so on, up to a number of items. A group keeps
 * its order.
 */
export function inTurns<Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string,
  most = items.length,
): Item[] {
  let groups = [...Map.groupBy(items, groupOf).values()].map(group => group.values());
  const taken: Item[] = [];
  while (groups.length > 0 && taken.length < most) {
    groups = groups.filter(group => {
      const { done, value } = group.next();
      if (done !== true) taken.push(value);
      return done !== true;
    });
  }
  return taken.slice(0, most);
}

/** The same items from another beginning, so that with each step others come first. */
export function inRotation<Item>(items: readonly Item[], step: number): Item[] {
  const start = items.length === 0 ? 0 : step % items.length;
  return [...items.slice(start), ...items.slice(0, start)];
}
