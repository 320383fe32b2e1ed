/** The items in lists of at most `size`. */
export function slices<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** The answers for all items, asked for slice after slice. */
export async function inSlices<T, R>(
  items: readonly T[],
  size: number,
  ask: (slice: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const answers: R[] = [];
  for (const slice of slices(items, size)) answers.push(...(await ask(slice)));
  return answers;
}
