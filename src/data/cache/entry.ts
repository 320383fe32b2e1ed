import { byteSize, type Representation } from '../../http/representation.ts';
import { canonicalJson } from '../../lib/json.ts';

/** One kept answer. Freshness and retention are different facts: an entry may outlive its freshness. */
export interface Entry {
  readonly representation: Representation;
  readonly chainIds: readonly number[];
  /** Names of the back ends that gave it, one a chain. */
  readonly backends: readonly string[];
  /** Back ends on whose blocks it depends, where these are more: those who had nothing of it may have something later. */
  readonly watched?: readonly string[];
  /** UTC milliseconds. */
  readonly storedAt: number;
  readonly freshUntil: number;
  /** End of the time in which it goes out at once although it is not fresh, while it is made again. */
  readonly revalidateUntil?: number;
  /** Until when it may stand in for an answer that cannot be had. */
  readonly keepUntil: number;
  /** Whether it cannot change any more, short of a deep reorg. */
  readonly final: boolean;
  /** Fresh only while the back ends that it depends on still show this revision. */
  readonly revision?: string;
  /** Fresh only while the back ends that it depends on still show this epoch. */
  readonly epoch?: string;
}

/** What an entry takes in memory, in bytes; 1,024 stands for its fields, its ready head and the store's own bookkeeping. */
export function entrySize(key: string, entry: Entry): number {
  return byteSize(entry.representation) + key.length * 2 + 1_024;
}

const HEX = /^0x[0-9a-f]*$/i;

/**
 * The identity of an answer: operation, chains it may come from, and parameters in one form, whatever their order or
 * the letter case of their hex. Lists are sets here. Defaults were filled in before, so that giving one changes nothing.
 */
export function cacheKey(
  operationId: string,
  chainKeys: readonly string[],
  request: { path: object; query: object },
): string {
  return `${operationId} ${chainKeys.join(',')} ${canonicalJson({ ...canonical(request.path), ...prefixed(request.query) })}`;
}

/** A cursor key may bear the name of a path parameter. */
function prefixed(query: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(canonical(query)).map(([name, value]) => [`?${name}`, value]));
}

function canonical(values: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => value !== undefined && name !== 'chain_id')
      .map(([name, value]) => [name, canonicalValue(value)]),
  );
}

function canonicalValue(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map(canonicalValue))].sort();
  return typeof value === 'string' && HEX.test(value) ? value.toLowerCase() : value;
}
