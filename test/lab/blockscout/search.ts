import type { Fields } from '#data/backends/upstream-json/fields.ts';
import { isObject } from '#lib/json.ts';
import { type Generation, named, renamed, since } from './generation.ts';
import { address, addressName, token } from './parties.ts';

/** A search result. Weights exist since version 6. */
export function searchResult(generation: Generation, record: Fields): Fields {
  const { address_hash: hash, transaction_hash: transaction, priority, ...others } = record;
  return {
    ...others,
    ...(hash === undefined ? {} : addressName(generation, hash)),
    ...(transaction === undefined ? {} : renamed(generation, 'tx_hash', 'transaction_hash', transaction)),
    ...named(generation, priority, [{ name: 'priority', from: 'v6.9' }]),
    ...(hash === undefined ? {} : marksOf(generation, record)),
  };
}

function marksOf(generation: Generation, { type }: Fields): Fields {
  return {
    ...named(generation, false, [{ name: 'certified', from: 'v6.9' }]),
    ...named(generation, 'ok', [{ name: 'reputation', from: 'v9.3' }]),
    ...named(generation, type !== 'address', [{ name: 'is_smart_contract_address', from: 'v11' }]),
  };
}

/** The summary of a transaction, with full tokens and addresses; null for a failed or pending one. */
export function summary(generation: Generation, record: Fields): Fields | null {
  if (record.success !== true) return null;
  return { success: true, data: rewritten(generation, record.data) };
}

function rewritten(generation: Generation, value: unknown): unknown {
  if (Array.isArray(value)) return value.map(item => rewritten(generation, item));
  if (!isObject(value)) return value;
  if (value.type === 'token') return { ...value, value: token(generation, value.value) };
  if (value.type === 'address') return { ...value, value: address(generation, value.value) };
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, rewritten(generation, inner)]),
  );
}

/** One step of a trace. Up to 6.8 it is from upstream's own records, later from the node. */
export function traceItem(generation: Generation, record: Fields): Fields {
  const { result, action, ...others } = record;
  const answered = result === null ? {} : { result };
  if (since(generation, 'v6.9')) return { ...others, action, ...answered };
  const { type, error, subtraces, traceAddress } = record;
  const { creationMethod, ...own } = isObject(action) ? action : {};
  return {
    type: creationMethod === 'create2' ? 'create2' : type,
    action: own,
    ...answered,
    ...(error === undefined ? {} : { error }),
    subtraces,
    traceAddress,
  };
}
