import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, pick, required, requiredNatural } from '../../upstream-json/fields.ts';
import {
  booleanOrNull,
  countOrNull,
  hashOrNull,
  naturalOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';
import { addressIn, addressOrNullIn } from './address.ts';

type InternalTransaction = ExplorerSchemas['InternalTransaction'];

/**
 * Converts an internal transaction of any generation. Up to 5.1 creations have no `type`.
 * @throws UnreadableRecord without its position (block, transaction, index), a sender, a type or a value.
 */
export function internalTransaction(value: unknown): InternalTransaction {
  const record = fieldsOf(value);
  const created = addressOrNullIn(record, 'created_contract');
  const type = required(textOrNull(record.type) ?? (created === null ? null : 'create'), 'type');
  const error = textOrNull(record.error);
  return {
    block_number: required(countOrNull(pick(record, 'block_number', 'block')), 'block_number'),
    created_contract: created,
    error,
    from: addressIn(record, 'from'),
    gas_limit: naturalOrNull(record.gas_limit),
    index: required(countOrNull(record.index), 'index'),
    success: booleanOrNull(record.success) ?? error === null,
    timestamp: timestampOrNull(record.timestamp),
    // A beneficiary is not called; delegated and static calls move no value (Decision 49).
    to: type === 'selfdestruct' ? null : addressOrNullIn(record, 'to'),
    transaction_hash: required(hashOrNull(record.transaction_hash), 'transaction_hash'),
    type,
    value: type === 'delegatecall' || type === 'staticcall' ? '0' : requiredNatural(record, 'value'),
  };
}
