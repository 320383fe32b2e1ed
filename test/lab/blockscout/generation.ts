import type { Fields } from '#data/backends/upstream-json/fields.ts';

/** Versions of Blockscout whose answers differ in shape, oldest first. */
export const GENERATIONS = ['v5', 'v6.9', 'v8', 'v9.3', 'v11', 'v12'] as const;
export type Generation = (typeof GENERATIONS)[number];

/** Converts a record to its shape in a generation. */
export type Wire = (generation: Generation, record: Fields) => unknown;

/** True when a generation is `first` or a later one. */
export function since(generation: Generation, first: Generation): boolean {
  return GENERATIONS.indexOf(generation) >= GENERATIONS.indexOf(first);
}

interface Name {
  readonly name: string;
  /** First and last generation with this name; the oldest and the newest when absent. */
  readonly from?: Generation;
  readonly until?: Generation;
}

/** A value under all of its names in a generation. */
export function named(generation: Generation, value: unknown, names: readonly Name[]): Fields {
  return Object.fromEntries(
    names
      .filter(({ from = 'v5', until = 'v12' }) => since(generation, from) && since(until, generation))
      .map(({ name }) => [name, value]),
  );
}

/** 6.10 renamed `block` and all names that began with `tx`. The generation 6.9 has both names. */
export function renamed(generation: Generation, before: string, after: string, value: unknown): Fields {
  return named(generation, value, [
    { name: before, until: 'v6.9' },
    { name: after, from: 'v6.9' },
  ]);
}

/** The number of transactions, under one of its three names. */
export function countOfTransactions(generation: Generation, value: unknown): Fields {
  return named(generation, value, [
    { name: 'tx_count', until: 'v6.9' },
    { name: 'transaction_count', from: 'v6.9', until: 'v8' },
    { name: 'transactions_count', from: 'v8' },
  ]);
}
