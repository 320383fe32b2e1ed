import type { InsightsSchemas } from '#contract/contracts/insights.ts';

type ResolvedInput = InsightsSchemas['ResolvedInput'];

/** Most records of one chain in an answer. */
export const MOST_RESOLVED = 20;

export const UNKNOWN: ResolvedInput = { type: 'unknown' };

/** A kind with its records; `unknown` when there are none. */
export function resolvedAs(
  type: ResolvedInput['type'],
  lists: Pick<ResolvedInput, 'blocks' | 'transactions' | 'events'>,
): ResolvedInput {
  return Object.values(lists).some(list => list.length > 0) ? { type, ...lists } : UNKNOWN;
}

/** The first of these look-ups that knows the text. Those behind it are not made. */
export async function firstKnown(lookUps: readonly (() => Promise<ResolvedInput>)[]): Promise<ResolvedInput> {
  for (const lookUp of lookUps) {
    const found = await lookUp();
    if (found.type !== 'unknown') return found;
  }
  return UNKNOWN;
}
