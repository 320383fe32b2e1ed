import { each, type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { fixtureOf } from '../blockscout-fixtures.ts';
import { countOfTransactions, type Generation, named, renamed } from './generation.ts';
import { address } from './parties.ts';

/** The text that upstream up to 5.2 answers for extra data and the state root, which it does not store. */
export const PLACEHOLDER = String(fieldsOf(fixtureOf('getBlock', 'v5').body).extra_data);

/** Names of the rewards in lists; a single block has them in words. */
const KINDS: Readonly<Record<string, string>> = {
  'Miner Reward': 'validator',
  'Emission Reward': 'emission_funds',
  'Uncle Reward': 'uncle',
};

/** Writes a block for a list or as a single record. */
export function blockWriter(isSingle: boolean) {
  return (generation: Generation, record: Fields): Fields => {
    const { base_fee_per_gas, burnt_fees, burnt_fees_percentage, difficulty, gas_limit, gas_used } = record;
    const { gas_target_percentage, gas_used_percentage, hash, height, nonce, parent_hash } = record;
    const { priority_fee, size, timestamp, total_difficulty, type, withdrawals_count } = record;
    return {
      ...{ base_fee_per_gas, burnt_fees, burnt_fees_percentage, difficulty, gas_limit, gas_used },
      ...{ gas_target_percentage, gas_used_percentage, hash, height, nonce, parent_hash },
      ...{ priority_fee, size, timestamp, total_difficulty, type, withdrawals_count },
      miner: address(generation, record.miner),
      rewards: each(record.rewards, reward => rewardOf(fieldsOf(reward), isSingle)),
      uncles_hashes: listOf(record.uncles_hashes).map(uncle => ({ hash: uncle })),
      ...countOfTransactions(generation, record.transaction_count),
      ...renamed(generation, 'tx_fees', 'transaction_fees', record.transaction_fees),
      ...named(generation, PLACEHOLDER, [
        { name: 'extra_data', until: 'v5' },
        { name: 'state_root', until: 'v5' },
      ]),
      ...named(generation, false, [{ name: 'is_pending_update', from: 'v9.3' }]),
      ...named(generation, null, [
        { name: 'internal_transactions_count', from: 'v8' },
        { name: 'blob_gas_used', from: 'v6.9' },
        { name: 'excess_blob_gas', from: 'v6.9' },
        { name: 'blob_tx_count', from: 'v6.9', until: 'v6.9' },
        { name: 'blob_transactions_count', from: 'v8' },
        { name: 'beacon_deposits_count', from: 'v11' },
      ]),
    };
  };
}

function rewardOf({ reward, type }: Fields, isSingle: boolean): Fields {
  return { reward: String(reward), type: isSingle ? type : KINDS[String(type)] };
}

/** A withdrawal in a list, without the field that the list is filtered by. */
export function withdrawal(generation: Generation, record: Fields): Fields {
  return 'receiver' in record ? { ...record, receiver: address(generation, record.receiver) } : record;
}
