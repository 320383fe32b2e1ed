import type { InsightsSchemas } from '#contract/contracts/insights.ts';

type ResolvedInput = InsightsSchemas['ResolvedInput'];

/** Maximum number of records per chain in an answer. */
export const MAX_RESOLVED = 20;

export const UNKNOWN: ResolvedInput = { type: 'unknown' };

/** Answer of the given type with its records; `unknown` when there are none. */
export function resolvedAs(
  type: ResolvedInput['type'],
  lists: Pick<ResolvedInput, 'blocks' | 'transactions' | 'events'>,
): ResolvedInput {
  return Object.values(lists).some(list => list.length > 0) ? { type, ...lists } : UNKNOWN;
}

/** Runs the look-ups in order until one recognises the text. */
export async function firstKnown(lookUps: readonly (() => Promise<ResolvedInput>)[]): Promise<ResolvedInput> {
  for (const lookUp of lookUps) {
    const found = await lookUp();
    if (found.type !== 'unknown') return found;
  }
  return UNKNOWN;
}
