import type { Backend } from '../backends/port/backend.ts';

/** One configured chain with its back ends in the order they are tried. */
export interface Chain {
  readonly id: number;
  readonly name: string;
  /** Blocks on top of a record after which it counts as final. */
  readonly confirmations: number;
  readonly backends: readonly Backend[];
}
