import type { Json, JsonObject } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';

/** What values are gathered for; what belongs together, such as a token and an id, is one value. */
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

/** Real values for paths and queries, gathered from earlier answers: a few of each kind. */
export type GatheredValues = Map<Kind, Set<string>>;

/** How many of a kind are kept: tokens are more, for few of them have a market. */
const ENOUGH: Partial<Record<Kind, number>> = { chain: 55, token: 20, symbol: 20 };
const ENOUGH_OF_OTHERS = 3;

/** Takes from an answer what later requests can ask for: hashes, block numbers, addresses, tokens, events. */
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

/** Takes the ids of the chains that a service says it has. */
export function gatherChains(into: GatheredValues, value: Json | undefined): void {
  const chains = isObject(value) && Array.isArray(value.chains) ? value.chains : [];
  for (const chain of chains) {
    if (isObject(chain) && typeof chain.id === 'number') keep(into, 'chain', String(chain.id));
  }
}

/** What was gathered of some kinds, one kind after the other. */
export function gathered(found: GatheredValues, ...kinds: readonly Kind[]): string[] {
  return kinds.flatMap(kind => [...(found.get(kind) ?? [])]);
}

function takeTransaction(into: GatheredValues, value: JsonObject): void {
  if (typeof value.transaction_hash === 'string') keep(into, 'transaction', value.transaction_hash);
  if (typeof value.hash === 'string' && 'nonce' in value && 'from' in value)
    keep(into, 'transaction', value.hash);
  // A call within a transaction, which not every transaction has.
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
  // Whoever was sent a token with an id is likely to have a list of them.
  if (isObject(to) && isObject(total) && 'token_id' in total && typeof to.hash === 'string')
    keep(into, 'holder', to.hash);
}

/** From a list of what somebody has, for a token that was merely sent may be gone. */
function takeInstance(into: GatheredValues, { id, token }: JsonObject): void {
  if (typeof id === 'string' && isObject(token) && typeof token.address === 'string')
    keep(into, 'instance', `${token.address}/instances/${id}`);
}

/** Of a transfer its token, by what was sent of it; of a look-up the tokens that have a price. */
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

/** Of a log its contract with the event, once by its topic and once by its signature. */
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
