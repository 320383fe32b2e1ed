import type { StoreFailures } from '../../src/stores/store-failures.ts';

/** Failures of a store, kept in the order in which they are reported. */
export function countedFailures(): StoreFailures & { readonly reported: unknown[] } {
  const reported: unknown[] = [];
  return { reported, report: error => void reported.push(error) };
}
