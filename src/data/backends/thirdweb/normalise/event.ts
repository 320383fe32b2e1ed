import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { type Fields, fieldsOf, listOf, optionalField, pick, required } from '../../upstream-json/fields.ts';
import { hashOrNull } from '../../upstream-json/values.ts';
import { decodedEventOrNull } from './decoded.ts';
import {
  addressOrNull,
  bytesOrNull,
  chainIdOf,
  hexCountOrNull,
  type RecordContext,
  secondsOrNull,
} from './forms.ts';

type Event = InsightsSchemas['ContractEvent'];

/** Converts an event of any generation. @throws UnreadableRecord without its position, contract or data. */
export function event(value: unknown, context: RecordContext): Event {
  const record = fieldsOf(value);
  const count = (name: string) => required(hexCountOrNull(record[name]), name);
  return {
    chain_id: String(chainIdOf(record, context)),
    block_number: count('block_number'),
    block_hash: required(hashOrNull(record.block_hash), 'block_hash'),
    block_timestamp: required(secondsOrNull(record.block_timestamp), 'block_timestamp'),
    transaction_hash: required(hashOrNull(record.transaction_hash), 'transaction_hash'),
    transaction_index: count('transaction_index'),
    log_index: count('log_index'),
    address: required(addressOrNull(record.address), 'address'),
    data: record.data === '' ? '0x' : required(bytesOrNull(record.data), 'data'),
    topics: topicsOf(record),
    ...optionalField(
      'decoded',
      context.isDecoded ? decodedEventOrNull(pick(record, 'decoded', 'decodedData')) : null,
    ),
  };
}

/** Reads topics from a list, which some generations pad with null or empty text, or from separate columns. */
function topicsOf(record: Fields): string[] {
  const listed = Array.isArray(record.topics)
    ? listOf(record.topics)
    : [record.topic_0, record.topic_1, record.topic_2, record.topic_3];
  const topics: string[] = [];
  for (const topic of listed.slice(0, 4)) {
    const hash = hashOrNull(topic);
    if (hash !== null) topics.push(hash);
  }
  return topics;
}
