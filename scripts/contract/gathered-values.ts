import type { Json, JsonObject } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';

/** Kinds of gathered values. Values that belong together, such as a token and an id, are one value. */
type Kind =
  | 'chain'
  | 'transaction'
  | 'moving'
  | 'traced'
  | 'block'
  | 'withdrawn'
  | 'address'
  | 'holder'
  | 'validator'
  | 'receiver'
  | 'contract'
  | 'verified'
  | 'instance'
  | 'token'
  | 'symbol'
  | 'priced'
  | 'nft'
  | 'event';

/** Real values for paths and queries, gathered from earlier responses: a few of each kind. */
export type GatheredValues = Map<Kind, Set<string>>;

/** Maximum number of values per kind. More tokens are kept, because few of them have a market. */
const ENOUGH: Partial<Record<Kind, number>> = { chain: 55, token: 20, symbol: 20 };
const ENOUGH_OF_OTHERS = 3;

/** Gathers values for later requests from a response: hashes, block numbers, addresses, tokens, events. */
export function gatherValues(into: GatheredValues, value: Json): void {
  if (Array.isArray(value)) for (const item of value) gatherValues(into, item);
  else if (isObject(value)) {
    takeTransaction(into, value);
    takeAddress(into, value);
    takeInstance(into, value);
    takeToken(into, value);
    takeEvent(into, value);
    takeBlock(into, value);
    takeWithdrawal(into, value);
    for (const member of Object.values(value)) gatherValues(into, member);
  }
}

/** Gathers the ids of a service's chains. */
export function gatherChains(into: GatheredValues, value: Json | undefined): void {
  const chains = isObject(value) && Array.isArray(value.chains) ? value.chains : [];
  for (const chain of chains) {
    if (isObject(chain) && typeof chain.id === 'number') keep(into, 'chain', String(chain.id));
  }
}

/** Gathered values of some kinds, in the order of the kinds. */
export function gathered(found: GatheredValues, ...kinds: readonly Kind[]): string[] {
  return kinds.flatMap(kind => [...(found.get(kind) ?? [])]);
}

function takeTransaction(into: GatheredValues, value: JsonObject): void {
  if (typeof value.transaction_hash === 'string') keep(into, 'transaction', value.transaction_hash);
  if (typeof value.hash === 'string' && 'nonce' in value && 'from' in value)
    keep(into, 'transaction', value.hash);
  // An entry with a gas limit is an inner call, which not every transaction has.
  if (typeof value.transaction_hash === 'string' && 'gas_limit' in value)
    keep(into, 'traced', value.transaction_hash);
}

function takeBlock(into: GatheredValues, { height, hash, miner }: JsonObject): void {
  if (typeof height !== 'number') return;
  keep(into, 'block', String(height));
  if (typeof hash === 'string') keep(into, 'block', hash);
  if (isObject(miner) && typeof miner.hash === 'string') keep(into, 'validator', miner.hash);
}

function takeWithdrawal(into: GatheredValues, value: JsonObject): void {
  const { validator_index: validator, block_number: block, receiver } = value;
  if (validator === undefined || typeof block !== 'number') return;
  keep(into, 'withdrawn', String(block));
  if (isObject(receiver) && typeof receiver.hash === 'string') keep(into, 'receiver', receiver.hash);
}

function takeAddress(into: GatheredValues, value: JsonObject): void {
  const { hash, is_contract: isContract, is_verified: isVerified, to, total } = value;
  if (typeof hash === 'string' && isContract !== undefined) {
    keep(into, 'address', hash);
    if (isContract === true) keep(into, 'contract', hash);
    if (isVerified === true) keep(into, 'verified', hash);
  }
  // The receiver of a token with an id probably has a list of them.
  if (isObject(to) && isObject(total) && 'token_id' in total && typeof to.hash === 'string')
    keep(into, 'holder', to.hash);
}

/** Gathers NFTs from lists of holdings, because a transferred token may be gone. */
function takeInstance(into: GatheredValues, { id, token }: JsonObject): void {
  if (typeof id === 'string' && isObject(token) && typeof token.address === 'string')
    keep(into, 'instance', `${token.address}/instances/${id}`);
}

/** Gathers the token of a transfer, by its kind, and the priced tokens of a look-up. */
function takeToken(into: GatheredValues, value: JsonObject): void {
  const { token, total, transaction_hash: transaction, price_data: price, token_address: found } = value;
  if (isObject(price) && typeof found === 'string') keep(into, 'priced', found);
  if (!isObject(token) || !isObject(total) || typeof token.address !== 'string') return;
  if (typeof transaction === 'string') keep(into, 'moving', transaction);
  if (typeof total.token_id === 'string') keep(into, 'nft', `${token.address}/${total.token_id}`);
  else {
    keep(into, 'token', token.address);
    if (typeof token.symbol === 'string') keep(into, 'symbol', token.symbol);
  }
}

/** Gathers the contract of a log with the event, once by its topic and once by its signature. */
function takeEvent(into: GatheredValues, { address, topics, decoded }: JsonObject): void {
  const [topic] = Array.isArray(topics) ? topics : [];
  if (!isObject(address) || typeof address.hash !== 'string' || typeof topic !== 'string') return;
  const signature = isObject(decoded) ? decoded.method_call : undefined;
  if (typeof signature !== 'string') return;
  keep(into, 'event', `${address.hash}/${encodeURIComponent(signature)}`);
  keep(into, 'event', `${address.hash}/${topic}`);
}

function keep(into: GatheredValues, kind: Kind, value: string): void {
  const values = into.get(kind) ?? new Set();
  if (values.size < (ENOUGH[kind] ?? ENOUGH_OF_OTHERS)) values.add(value);
  into.set(kind, values);
}
