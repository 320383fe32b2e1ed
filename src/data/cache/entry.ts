import { byteSize, type Representation } from '../../http/representation.ts';
import { canonicalJson } from '../../lib/json.ts';

/** One cached answer. Freshness and retention are separate: an entry may outlive its freshness. */
export interface Entry {
  readonly representation: Representation;
  readonly chainIds: readonly number[];
  /** Names of the back ends that gave the answer, one per chain. */
  readonly backends: readonly string[];
  /**
   * Back ends whose blocks can change the answer, if more than `backends`: one that had no data may have some later.
   */
  readonly watched?: readonly string[];
  /** UTC milliseconds. */
  readonly storedAt: number;
  readonly freshUntil: number;
  /** End of the time in which the stale entry is still sent at once, while it is reloaded. */
  readonly revalidateUntil?: number;
  /** End of the time in which the entry may replace an answer that no back end can give. */
  readonly keepUntil: number;
  /** True when the answer can no longer change, except by a deep reorg. */
  readonly final: boolean;
  /** The entry is fresh only while its back ends still report this revision. */
  readonly revision?: string;
  /** The entry is fresh only while its back ends still report this epoch. */
  readonly epoch?: string;
}

/** Memory of an entry in bytes. The constant 1,024 covers its fields, its prepared header and the store's overhead. */
export function entrySize(key: string, entry: Entry): number {
  return byteSize(entry.representation) + key.length * 2 + 1_024;
}

const HEX = /^0x[0-9a-f]*$/i;

/**
 * Identity of an answer: operation, chains and parameters. The order of parameters and the letter case of hex do not
 * matter, and lists count as sets. Defaults were filled in earlier, so an explicit default changes nothing.
 */
export function cacheKey(
  operationId: string,
  chainKeys: readonly string[],
  request: { path: object; query: object },
): string {
  return `${operationId} ${chainKeys.join(',')} ${canonicalJson({ ...canonical(request.path), ...prefixed(request.query) })}`;
}

/** Prefixes the query, because a cursor key may have the name of a path parameter. */
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
