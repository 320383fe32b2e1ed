/** A mutation that no test can tell from the original. */
export interface EquivalentMutation {
  readonly file: string;
  /** The line of the source that the mutation begins in, without indentation. */
  readonly line: string;
  readonly original: string;
  readonly replacement: string;
  readonly reason: string;
}

/** Mutations that do not count, because the program behaves the same with them. */
export const EQUIVALENT: readonly EquivalentMutation[] = [];
