import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { type Fields, fieldsOf, required, requiredNatural } from '../../upstream-json/fields.ts';
import { countOrNull, timestampOrNull } from '../../upstream-json/values.ts';
import { addressIn } from './address.ts';

/** Converts a withdrawal in the chain's list, present since 5.2. @throws UnreadableRecord without any of its fields. */
export function withdrawal(value: unknown): ExplorerSchemas['Withdrawal'] {
  const record = fieldsOf(value);
  return { ...what(record), receiver: addressIn(record, 'receiver'), ...when(record) };
}

/** Converts a withdrawal in its block's list. @throws UnreadableRecord without any of its fields. */
export function blockWithdrawal(value: unknown): ExplorerSchemas['BlockWithdrawal'] {
  const record = fieldsOf(value);
  return { ...what(record), receiver: addressIn(record, 'receiver') };
}

/** Converts a withdrawal in its receiver's list. @throws UnreadableRecord without any of its fields. */
export function addressWithdrawal(value: unknown): ExplorerSchemas['AddressWithdrawal'] {
  const record = fieldsOf(value);
  return { ...what(record), ...when(record) };
}

function what(record: Fields) {
  return {
    index: required(countOrNull(record.index), 'index'),
    amount: requiredNatural(record, 'amount'),
    validator_index: required(countOrNull(record.validator_index), 'validator_index'),
  };
}

function when(record: Fields) {
  return {
    block_number: required(countOrNull(record.block_number), 'block_number'),
    timestamp: required(timestampOrNull(record.timestamp), 'timestamp'),
  };
}
