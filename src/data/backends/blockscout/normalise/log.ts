import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, listOf, optionalField, pick, required } from '../../upstream-json/fields.ts';
import { countOrNull, hashOrNull, hexOrNull } from '../../upstream-json/values.ts';
import { addressIn, addressOrNullIn } from './address.ts';
import { decodedLogOrNull } from './decoded.ts';

type Log = ExplorerSchemas['Log'];

/**
 * Converts a log of any generation. Its block is present since 5.3. Celo's logs between transactions have an empty
 * `transaction_hash` upstream; like Celo's nodes, we use the block hash instead.
 * @throws UnreadableRecord without an address, data, an index or a transaction.
 */
export function log(value: unknown): Log {
  const record = fieldsOf(value);
  const blockHash = hashOrNull(record.block_hash);
  const transactionHash = hashOrNull(pick(record, 'transaction_hash', 'tx_hash')) ?? blockHash;
  return {
    address: addressIn(record, 'address'),
    ...optionalField('block_hash', blockHash),
    ...optionalField('block_number', countOrNull(record.block_number)),
    data: required(hexOrNull(record.data), 'data'),
    decoded: decodedLogOrNull(record.decoded),
    index: required(countOrNull(record.index), 'index'),
    smart_contract: addressOrNullIn(record, 'smart_contract'),
    topics: topics(record.topics),
    transaction_hash: required(transactionHash, 'transaction_hash'),
  };
}

/** Topics without upstream's null padding (Decision 26). */
function topics(value: unknown): string[] {
  const found: string[] = [];
  for (const topic of listOf(value)) {
    const hash = hashOrNull(topic);
    if (hash !== null) found.push(hash);
  }
  return found;
}
