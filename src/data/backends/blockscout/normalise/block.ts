import type { ExplorerSchemas } from '../../../../contract/explorer.ts';
import {
  at,
  each,
  type Fields,
  fieldsOf,
  isFields,
  listOf,
  pick,
  required,
} from '../../../upstream/fields.ts';
import {
  bigintOrNull,
  hashOrNull,
  hexOrNull,
  integerOrNull,
  naturalOrNull,
  numberOrNull,
  timestampOrNull,
} from '../../../upstream/values.ts';
import { addressIn } from './address.ts';

type Block = ExplorerSchemas['Block'];
type Reward = ExplorerSchemas['BlockReward'];

/** Lists give the raw kind, the single block its display text. Decision 22. */
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
 * A block of any generation, from a list or on its own. Extra data and state root are in no answer but those up to 5.2,
 * which write the word TODO for both: neither is a value.
 * @throws Unreadable without what every header has.
 */
export function block(value: unknown): Block {
  const record = fieldsOf(value);
  const baseFee = naturalOrNull(record.base_fee_per_gas);
  return {
    base_fee_per_gas: baseFee,
    burnt_fees: feesBeyond(baseFee, record.burnt_fees),
    burnt_fees_percentage: numberOrNull(record.burnt_fees_percentage),
    difficulty: naturalOrNull(record.difficulty),
    extra_data: hexOrNull(record.extra_data),
    gas_limit: natural(record, 'gas_limit'),
    gas_target_percentage: numberOrNull(record.gas_target_percentage),
    gas_used: natural(record, 'gas_used'),
    gas_used_percentage: numberOrNull(record.gas_used_percentage),
    hash: required(hashOrNull(record.hash), 'hash'),
    height: required(integerOrNull(record.height), 'height'),
    miner: addressIn(record, 'miner'),
    nonce: required(hexOrNull(record.nonce), 'nonce'),
    parent_hash: required(hashOrNull(record.parent_hash), 'parent_hash'),
    priority_fee: feesBeyond(baseFee, record.priority_fee),
    rewards: at('rewards', record.rewards, rewardsOf),
    size: integerOrNull(record.size),
    state_root: hashOrNull(record.state_root),
    timestamp: required(timestampOrNull(record.timestamp), 'timestamp'),
    total_difficulty: naturalOrNull(record.total_difficulty),
    transaction_count: integerOrNull(pick(record, 'transactions_count', 'transaction_count', 'tx_count')),
    transaction_fees: required(
      naturalOrNull(pick(record, 'transaction_fees', 'tx_fees')),
      'transaction_fees',
    ),
    type: required(typeOrNull(record.type), 'type'),
    uncles_hashes: at('uncles_hashes', record.uncles_hashes, unclesOf),
    withdrawals_count: integerOrNull(record.withdrawals_count),
  };
}

/** What is shared out by the base fee: upstream writes 0 for blocks that have none, the contract null. */
function feesBeyond(baseFee: string | null, value: unknown): string | null {
  const fees = naturalOrNull(value);
  return baseFee === null && fees === '0' ? null : fees;
}

function natural(record: Fields, name: string): string {
  return required(naturalOrNull(record[name]), name);
}

function typeOrNull(value: unknown): Block['type'] | null {
  return value === 'block' || value === 'uncle' || value === 'reorg' ? value : null;
}

function rewardsOf(value: unknown): Reward[] {
  const rewards: Reward[] = [];
  for (const [index, item] of listOf(value).entries()) {
    if (!isFields(item)) continue;
    const type = REWARDS.get(item.type);
    if (type === undefined) continue;
    rewards.push({ reward: at(index, item.reward, amountOf), type });
  }
  return rewards;
}

function amountOf(value: unknown): bigint {
  return required(bigintOrNull(value), 'reward');
}

/** Objects of a hash, although the documents of all generations say strings. */
function unclesOf(value: unknown): string[] {
  return each(value, uncle => required(hashOrNull(isFields(uncle) ? uncle.hash : uncle), 'hash'));
}
