import type { ValueType } from '#query-model/expression.ts';
import type { Entity } from './insights-backend.ts';

/** Field of an entity that can be sorted by, grouped and aggregated. */
export interface Field {
  readonly type: ValueType;
  /** True when the record holds a JSON number. Integers of other fields are decimal text. */
  readonly isNumber: boolean;
}

const number = (type: ValueType = 'integer'): Field => ({ type, isNumber: true });
const amount: Field = { type: 'integer', isNumber: false };
const hex: Field = { type: 'hex', isNumber: false };

const PLACE = { block_number: number(), block_hash: hex, block_timestamp: number('time') };

/** Fields by their name in the record, without objects and lists. */
export const FIELDS: Readonly<Record<Entity, Readonly<Record<string, Field>>>> = {
  blocks: {
    chain_id: number(),
    ...PLACE,
    parent_hash: hex,
    nonce: hex,
    sha3_uncles: hex,
    mix_hash: hex,
    miner: hex,
    state_root: hex,
    transactions_root: hex,
    receipts_root: hex,
    logs_bloom: hex,
    size: number(),
    extra_data: hex,
    difficulty: amount,
    total_difficulty: amount,
    transaction_count: number(),
    gas_limit: number(),
    gas_used: number(),
    withdrawals_root: hex,
    base_fee_per_gas: number(),
  },
  transactions: {
    chain_id: amount,
    ...PLACE,
    hash: hex,
    nonce: number(),
    transaction_index: number(),
    from_address: hex,
    to_address: hex,
    value: amount,
    gas_price: amount,
    gas: number(),
    function_selector: hex,
    data: hex,
    max_fee_per_gas: amount,
    max_priority_fee_per_gas: amount,
    transaction_type: number(),
    r: amount,
    s: amount,
    v: amount,
    contract_address: hex,
    gas_used: number(),
    cumulative_gas_used: number(),
    effective_gas_price: amount,
    blob_gas_used: number(),
    blob_gas_price: amount,
    logs_bloom: hex,
    status: number(),
  },
  events: {
    chain_id: amount,
    ...PLACE,
    transaction_hash: hex,
    transaction_index: number(),
    log_index: number(),
    address: hex,
    data: hex,
    topic_0: hex,
    topic_1: hex,
    topic_2: hex,
    topic_3: hex,
  },
};

/** Names of the same fields in the tables of the original service. Source: the names that its clients use. */
const ALIASES: Readonly<Record<Entity, Readonly<Record<string, string>>>> = {
  blocks: { hash: 'block_hash', number: 'block_number', timestamp: 'block_timestamp' },
  transactions: { transaction_hash: 'hash', type: 'transaction_type', timestamp: 'block_timestamp' },
  events: {
    topic0: 'topic_0',
    topic1: 'topic_1',
    topic2: 'topic_2',
    topic3: 'topic_3',
    timestamp: 'block_timestamp',
  },
};

/** Resolves a field name or an alias to the record's field name. Undefined for an unknown name. */
export function fieldNamed(entity: Entity, name: string): string | undefined {
  if (Object.hasOwn(FIELDS[entity], name)) return name;
  const aliases = ALIASES[entity];
  return Object.hasOwn(aliases, name) ? aliases[name] : undefined;
}
