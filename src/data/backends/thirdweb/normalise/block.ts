import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { fieldsOf, pick, required } from '../../upstream-json/fields.ts';
import { hashOrNull } from '../../upstream-json/values.ts';
import {
  addressOrNull,
  bytesOrNull,
  chainIdOf,
  hexCountOrNull,
  quantityOrNull,
  type RecordContext,
  secondsOrNull,
} from './forms.ts';

type Block = InsightsSchemas['Block'];

/**
 * Converts a block of any generation. Upstream writes empty text for fields that a chain lacks (nonce, mix hash,
 * withdrawals root).
 * @throws UnreadableRecord without the fields that every node gives.
 */
export function block(value: unknown, context: RecordContext): Block {
  const record = fieldsOf(value);
  const hash = (name: string) => required(hashOrNull(record[name]), name);
  const count = (name: string) => required(hexCountOrNull(record[name]), name);
  return {
    chain_id: chainIdOf(record, context),
    block_number: count('block_number'),
    block_hash: required(hashOrNull(pick(record, 'block_hash', 'hash')), 'block_hash'),
    parent_hash: hash('parent_hash'),
    block_timestamp: required(secondsOrNull(record.block_timestamp), 'block_timestamp'),
    nonce: nonceOrNull(record.nonce),
    sha3_uncles: hashOrNull(record.sha3_uncles),
    mix_hash: hashOrNull(record.mix_hash),
    miner: required(addressOrNull(record.miner), 'miner'),
    state_root: hash('state_root'),
    transactions_root: hashOrNull(record.transactions_root),
    receipts_root: hashOrNull(record.receipts_root),
    logs_bloom: bytesOrNull(record.logs_bloom),
    size: hexCountOrNull(record.size),
    extra_data: record.extra_data === '' ? '0x' : required(bytesOrNull(record.extra_data), 'extra_data'),
    difficulty: required(quantityOrNull(record.difficulty), 'difficulty'),
    total_difficulty: quantityOrNull(record.total_difficulty),
    transaction_count: count('transaction_count'),
    gas_limit: count('gas_limit'),
    gas_used: count('gas_used'),
    withdrawals_root: hashOrNull(record.withdrawals_root),
    base_fee_per_gas: hexCountOrNull(record.base_fee_per_gas),
  };
}

/** Reads a nonce: eight bytes as hex, or a number in some generations. */
function nonceOrNull(value: unknown): string | null {
  const bytes = bytesOrNull(value);
  if (bytes !== null) return bytes;
  const digits = quantityOrNull(value);
  return digits === null ? null : `0x${BigInt(digits).toString(16).padStart(16, '0')}`;
}
