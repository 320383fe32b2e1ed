import type { Fields } from '#data/backends/upstream-json/fields.ts';

/** Versions of Blockscout whose answers differ in shape, oldest first. */
export const GENERATIONS = ['v5', 'v6.9', 'v8', 'v9.3', 'v11', 'v12'] as const;
export type Generation = (typeof GENERATIONS)[number];

/** A body and the generation whose shape it is to have. */
export type Wire = (generation: Generation, record: Fields) => unknown;

/** Whether a generation is this one or a later one. */
export function since(generation: Generation, first: Generation): boolean {
  return GENERATIONS.indexOf(generation) >= GENERATIONS.indexOf(first);
}

interface Name {
  readonly name: string;
  /** The first and the last generation that have it; the oldest and the newest when absent. */
  readonly from?: Generation;
  readonly until?: Generation;
}

/** A value under each of the names that a generation has for it. */
export function named(generation: Generation, value: unknown, names: readonly Name[]): Fields {
  return Object.fromEntries(
    names
      .filter(({ from = 'v5', until = 'v12' }) => since(generation, from) && since(until, generation))
      .map(({ name }) => [name, value]),
  );
}

/** 6.10 renamed `block` and whatever began with `tx`; 6.9 has both. */
export function renamed(generation: Generation, before: string, after: string, value: unknown): Fields {
  return named(generation, value, [
    { name: before, until: 'v6.9' },
    { name: after, from: 'v6.9' },
  ]);
}

/** The number of transactions, which had three names. */
export function countOfTransactions(generation: Generation, value: unknown): Fields {
  return named(generation, value, [
    { name: 'tx_count', until: 'v6.9' },
    { name: 'transaction_count', from: 'v6.9', until: 'v8' },
    { name: 'transactions_count', from: 'v8' },
  ]);
}
