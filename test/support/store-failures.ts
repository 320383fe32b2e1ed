import type { StoreFailures } from '../../src/stores/store-failures.ts';

/** Failures of a store in the order of their reports. */
export function countedFailures(): StoreFailures & { readonly reported: unknown[] } {
  const reported: unknown[] = [];
  return { reported, report: error => void reported.push(error), works: () => undefined };
}
