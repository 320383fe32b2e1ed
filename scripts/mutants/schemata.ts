import type { Mutation } from './mutations.ts';

/** A mutation that can be switched on by its id. */
export interface Switchable extends Mutation {
  readonly id: number;
}

/**
 * Source text that holds all of these mutations, each behind a question to `globalThis.mutants.isOn`. So a file is
 * compiled once for all of its mutants.
 */
export function schemata(text: string, mutations: readonly Switchable[]): string {
  const write = (from: number, to: number, inside: readonly Switchable[]): string => {
    const [outer] = inside.toSorted((a, b) => a.start - b.start || b.end - a.end);
    if (outer === undefined) return text.slice(from, to);
    const same = inside.filter(({ start, end }) => start === outer.start && end === outer.end);
    const nested = inside.filter(other => other.end <= outer.end && !same.includes(other));
    const later = inside.filter(({ start }) => start >= outer.end);
    const original = write(outer.start, outer.end, nested);
    return text.slice(from, outer.start) + switched(same, original) + write(outer.end, to, later);
  };
  return write(0, text.length, mutations);
}

function switched(mutations: readonly Switchable[], original: string): string {
  return mutations.reduce((otherwise, { id, replacement, isStatement }) => {
    const isOn = `globalThis.mutants.isOn(${id})`;
    return isStatement
      ? `{ if (!${isOn}) { ${otherwise} } }`
      : `(${isOn} ? (${replacement}) : (${otherwise}))`;
  }, original);
}
