import type { Json, JsonObject } from '../../src/contract/document.ts';

/** What values are gathered for; a token instance is an address and an id that belong together. */
type Kind = 'transaction' | 'block' | 'address' | 'holder' | 'contract' | 'instance';

/** Real values for path parameters, gathered from earlier answers: a few of each kind, each one path segment or two. */
export type Harvest = Map<Kind, Set<string>>;

const ENOUGH = 3;
const LAST = 99;

/** Takes from an answer what later requests can ask for: hashes, block numbers, addresses, token instances. */
export function harvest(into: Harvest, value: Json): void {
  if (Array.isArray(value)) for (const item of value) harvest(into, item);
  else if (typeof value === 'object' && value !== null) {
    takeTransaction(into, value);
    takeAddress(into, value);
    takeInstance(into, value);
    if (typeof value.height === 'number') keep(into, 'block', String(value.height));
    if (typeof value.hash === 'string' && 'height' in value) keep(into, 'block', value.hash);
    for (const member of Object.values(value)) harvest(into, member);
  }
}

/** How much a path needs to have been gathered before: the higher, the later it is asked for. */
export function needs(path: string): number {
  return isSearch(path) ? LAST : path.split('{').length;
}

/** The path with real values, a few variants, a search first as it is; none when nothing was gathered for it. */
export function realPaths(found: Harvest, path: string): string[] {
  const values = (...kinds: Kind[]) => kinds.flatMap(kind => [...(found.get(kind) ?? [])]);
  const filled = (pattern: string, kinds: Kind[]) =>
    values(...kinds).map(value => path.replace(pattern, () => value));
  if (isSearch(path)) {
    const wanted = values('transaction', 'block', 'address', 'contract');
    return [path, ...wanted.map(value => `${path}?q=${value}`)];
  }
  if (!path.includes('{')) return [path];
  if (path.includes('{address_hash}/instances/{id}')) {
    return filled('{address_hash}/instances/{id}', ['instance']);
  }
  if (path.includes('/smart-contracts/')) return filled('{address_hash}', ['contract']);
  if (path.includes('{address_hash}')) return filled('{address_hash}', ['address', 'holder']);
  if (path.includes('{transaction_hash}')) return filled('{transaction_hash}', ['transaction']);
  return filled('{block_number_or_hash}', ['block']);
}

function isSearch(path: string): boolean {
  return path.includes('/search');
}

function takeTransaction(into: Harvest, value: JsonObject): void {
  if (typeof value.transaction_hash === 'string') keep(into, 'transaction', value.transaction_hash);
  if (typeof value.hash === 'string' && 'nonce' in value && 'from' in value)
    keep(into, 'transaction', value.hash);
}

function takeAddress(into: Harvest, value: JsonObject): void {
  const { hash, is_contract: isContract, to, total } = value;
  if (typeof hash === 'string' && isContract !== undefined) {
    keep(into, 'address', hash);
    if (isContract === true) keep(into, 'contract', hash);
  }
  // Whoever was sent a token with an id is likely to have a list of them.
  if (isObject(to) && isObject(total) && 'token_id' in total && typeof to.hash === 'string')
    keep(into, 'holder', to.hash);
}

/** From a list of what somebody has, for a token that was merely sent may be gone. */
function takeInstance(into: Harvest, { id, token }: JsonObject): void {
  if (typeof id === 'string' && isObject(token) && typeof token.address === 'string')
    keep(into, 'instance', `${token.address}/instances/${id}`);
}

function keep(into: Harvest, kind: Kind, value: string): void {
  const values = into.get(kind) ?? new Set();
  if (values.size < ENOUGH) values.add(value);
  into.set(kind, values);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
