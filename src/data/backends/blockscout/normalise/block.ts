import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import { at, each, fieldsOf, listOf, pick, required } from '../../upstream-json/fields.ts';
import {
  countOrNull,
  hashOrNull,
  hexOrNull,
  naturalOrNull,
  numberOrNull,
  timestampOrNull,
  unsignedOrNull,
} from '../../upstream-json/values.ts';
import { addressIn } from './address.ts';

type Block = ExplorerSchemas['Block'];
type Reward = ExplorerSchemas['BlockReward'];

/** Reward types. Lists have the raw kind, the single block its display text (Decision 22). */
const REWARDS: ReadonlyMap<unknown, Reward['type']> = new Map([
  ['validator', 'Miner Reward'],
  ['emission_funds', 'Emission Reward'],
  ['uncle', 'Uncle Reward'],
  ['Miner Reward', 'Miner Reward'],
  ['Emission Reward', 'Emission Reward'],
  ['Chore Reward', 'Chore Reward'],
  ['Uncle Reward', 'Uncle Reward'],
]);

/**
 * Converts a block of any generation, from a list or on its own. Only versions up to 5.2 have extra data and state
 * root, and write a placeholder for both.
 * @throws UnreadableRecord without the fields that every header has: number, hashes, time, miner and gas limit.
 */
export function block(value: unknown): Block {
  const record = fieldsOf(value);
  const baseFee = naturalOrNull(record.base_fee_per_gas);
  return {
    base_fee_per_gas: baseFee,
    block_access_list_hash: null,
    burnt_fees: feesBeyond(baseFee, record.burnt_fees),
    burnt_fees_percentage: numberOrNull(record.burnt_fees_percentage),
    difficulty: naturalOrNull(record.difficulty),
    extra_data: hexOrNull(record.extra_data),
    gas_limit: required(naturalOrNull(record.gas_limit), 'gas_limit'),
    gas_target_percentage: numberOrNull(record.gas_target_percentage),
    gas_used: naturalOrNull(record.gas_used),
    gas_used_percentage: numberOrNull(record.gas_used_percentage),
    hash: required(hashOrNull(record.hash), 'hash'),
    height: required(countOrNull(record.height), 'height'),
    miner: addressIn(record, 'miner'),
    nonce: hexOrNull(record.nonce),
    parent_hash: required(hashOrNull(record.parent_hash), 'parent_hash'),
    priority_fee: feesBeyond(baseFee, record.priority_fee),
    proven: null,
    rewards: rewardsOf(record.rewards),
    size: countOrNull(record.size),
    slot_number: null,
    state_root: hashOrNull(record.state_root),
    timestamp: required(timestampOrNull(record.timestamp), 'timestamp'),
    total_difficulty: naturalOrNull(record.total_difficulty),
    transaction_count: countOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
    transaction_fees: naturalOrNull(pick(record, 'transaction_fees', 'tx_fees')),
    type: typeOrNull(record.type),
    uncles_hashes: at('uncles_hashes', record.uncles_hashes, unclesOf),
    withdrawals_count: countOrNull(record.withdrawals_count),
  };
}

/** Fees derived from the base fee. For blocks without a base fee upstream writes 0 and the contract null. */
function feesBeyond(baseFee: string | null, value: unknown): string | null {
  const fees = naturalOrNull(value);
  return baseFee === null && fees === '0' ? null : fees;
}

function typeOrNull(value: unknown): Block['type'] {
  return value === 'block' || value === 'uncle' || value === 'reorg' ? value : null;
}

/** Converts rewards. One without an amount or of an unknown kind is left out (Decision 22). */
function rewardsOf(value: unknown): Reward[] {
  return listOf(value).flatMap(item => {
    if (!isObject(item)) return [];
    const [type, reward] = [REWARDS.get(item.type), unsignedOrNull(item.reward)];
    return type === undefined || reward === null ? [] : [{ reward, type }];
  });
}

/** Reads uncles. They are objects with a hash, although the documents of all generations say strings. */
function unclesOf(value: unknown): string[] {
  return each(value, uncle => required(hashOrNull(isObject(uncle) ? uncle.hash : uncle), 'hash'));
}
