import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { toJson } from '#lib/json.ts';
import { type Fields, fieldsOf, optionalField, pick, required } from '../../upstream-json/fields.ts';
import { hashOrNull } from '../../upstream-json/values.ts';
import { decodedCallOrNull } from './decoded.ts';
import {
  addressOrNull,
  bigCountOrNull,
  bytesOrNull,
  chainIdOf,
  hexCountOrNull,
  partyOrNull,
  quantityOrNull,
  type RecordContext,
  secondsOrNull,
} from './forms.ts';

type Transaction = InsightsSchemas['Transaction'];

/** First type with two fee limits (EIP-1559), and the type with blobs (EIP-4844). */
const FIRST_WITH_LIMITS = 2;
const WITH_BLOBS = 3;
const LENGTH_OF_SELECTOR = '0x12345678'.length;

/**
 * Converts a transaction of any generation. Some write amounts as numbers. Missing values are zero, empty text or null.
 * @throws UnreadableRecord without the fields that every transaction has.
 */
export function transactionRecord(value: unknown, context: RecordContext): Transaction {
  const record = fieldsOf(value);
  const type = required(hexCountOrNull(pick(record, 'transaction_type', 'type')), 'transaction_type');
  const data = record.data === '' ? '0x' : required(bytesOrNull(pick(record, 'data', 'input')), 'data');
  const count = (name: string) => required(hexCountOrNull(record[name]), name);
  const quantity = (name: string) => required(quantityOrNull(record[name]), name);
  const limit = (name: string) => (type < FIRST_WITH_LIMITS ? null : quantityOrNull(record[name]));
  const to = receiverOrNull(record);
  const price = quantityOrNull(record.gas_price) ?? quantityOrNull(record.effective_gas_price);
  return {
    chain_id: String(chainIdOf(record, context)),
    block_number: count('block_number'),
    block_hash: required(hashOrNull(record.block_hash), 'block_hash'),
    block_timestamp: required(secondsOrNull(record.block_timestamp), 'block_timestamp'),
    hash: required(hashOrNull(pick(record, 'hash', 'transaction_hash')), 'hash'),
    nonce: required(bigCountOrNull(record.nonce), 'nonce'),
    transaction_index: count('transaction_index'),
    from_address: required(addressOrNull(record.from_address), 'from_address'),
    to_address: to,
    value: quantity('value'),
    gas_price: required(price, 'gas_price'),
    gas: required(bigCountOrNull(record.gas), 'gas'),
    // Some generations write nothing, others zeros, for data below four bytes. Init code has no selector (Decision 86).
    function_selector:
      to === null || data.length < LENGTH_OF_SELECTOR ? '0x' : data.slice(0, LENGTH_OF_SELECTOR),
    data,
    max_fee_per_gas: limit('max_fee_per_gas'),
    max_priority_fee_per_gas: limit('max_priority_fee_per_gas'),
    transaction_type: type,
    r: quantity('r'),
    s: quantity('s'),
    v: quantity('v'),
    ...optionalField('access_list_json', listTextOrNull(record.access_list_json)),
    ...optionalField('authorization_list_json', listTextOrNull(record.authorization_list_json)),
    ...receiptOf(record, type),
    ...optionalField(
      'decoded',
      context.isDecoded ? decodedCallOrNull(pick(record, 'decoded', 'decodedData')) : null,
    ),
  };
}

/** Fields from the receipt, which upstream may lack. */
function receiptOf(record: Fields, type: number) {
  const bloom = bytesOrNull(record.logs_bloom);
  const hasBlobs = type === WITH_BLOBS;
  return {
    ...optionalField('contract_address', partyOrNull(record.contract_address)),
    ...optionalField('gas_used', hexCountOrNull(record.gas_used)),
    ...optionalField('cumulative_gas_used', hexCountOrNull(record.cumulative_gas_used)),
    ...optionalField('effective_gas_price', quantityOrNull(record.effective_gas_price)),
    ...optionalField('blob_gas_used', hasBlobs ? hexCountOrNull(record.blob_gas_used) : null),
    ...optionalField('blob_gas_price', hasBlobs ? quantityOrNull(record.blob_gas_price) : null),
    ...optionalField('logs_bloom', bloom === '0x' ? null : bloom),
    ...optionalField('status', statusOrNull(hexCountOrNull(record.status))),
  };
}

function statusOrNull(status: number | null): 0 | 1 | null {
  return status === 0 || status === 1 ? status : null;
}

/** Receiver of a transaction. Some generations write the zero address for a creation, but it can also receive coins. */
function receiverOrNull(record: Fields): string | null {
  const created = partyOrNull(record.contract_address);
  return created === null ? addressOrNull(record.to_address) : partyOrNull(record.to_address);
}

/** JSON text of a list that is not empty. */
function listTextOrNull(value: unknown): string | null {
  if (Array.isArray(value)) return value.length === 0 ? null : toJson(value);
  return typeof value === 'string' && value.startsWith('[') && value.length > 2 ? value : null;
}
