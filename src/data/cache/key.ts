import { canonicalJson } from '../../lib/json.ts';

const HEX = /^0x[0-9a-f]*$/i;

/**
 * The identity of an answer: operation, chains it may come from, and parameters in one form, whatever their order or
 * the letter case of their hex. Lists are sets here. Defaults were filled in before, so that giving one changes nothing.
 */
export function cacheKey(
  operationId: string,
  chainIds: readonly number[],
  request: { path: object; query: object },
): string {
  return `${operationId} ${chainIds.join(',')} ${canonicalJson({ ...canonical(request.path), ...prefixed(request.query) })}`;
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
