import type { Json } from '../../src/contract/document.ts';

/** Real values for path parameters, gathered from earlier answers: by parameter name, a few each. */
export type Harvest = Map<string, Set<string>>;

const ENOUGH = 3;

/** Takes from an answer what later requests can ask for: hashes, block numbers, addresses, token ids. */
export function harvest(into: Harvest, value: Json): void {
  if (Array.isArray(value)) for (const item of value) harvest(into, item);
  else if (typeof value === 'object' && value !== null) {
    if (typeof value.transaction_hash === 'string') keep(into, 'transaction_hash', value.transaction_hash);
    if (typeof value.hash === 'string' && 'nonce' in value && 'from' in value)
      keep(into, 'transaction_hash', value.hash);
    if (typeof value.height === 'number') keep(into, 'block_number_or_hash', String(value.height));
    if (typeof value.hash === 'string' && 'height' in value) keep(into, 'block_number_or_hash', value.hash);
    if (typeof value.hash === 'string' && 'is_contract' in value) keep(into, 'address_hash', value.hash);
    if (typeof value.token_id === 'string') keep(into, 'id', value.token_id);
    for (const member of Object.values(value)) harvest(into, member);
  }
}

function keep(into: Harvest, name: string, value: string): void {
  const values = into.get(name) ?? new Set();
  if (values.size < ENOUGH) values.add(value);
  into.set(name, values);
}
