import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { fieldsOf, given, listOf, pick, required } from '../../upstream-json/fields.ts';
import { countOrNull, hashOrNull, hexOrNull } from '../../upstream-json/values.ts';
import { addressIn, addressOrNullIn } from './address.ts';
import { decodedLogOrNull } from './decoded.ts';

type Log = ExplorerSchemas['Log'];

/**
 * A log of any generation. Its block is given since 5.3. Celo's logs between transactions have an empty
 * `transaction_hash` upstream; their node gives the hash of the block in its place, and so do we.
 * @throws Unreadable without an address, data, an index or a transaction.
 */
export function log(value: unknown): Log {
  const record = fieldsOf(value);
  const blockHash = hashOrNull(record.block_hash);
  const transactionHash = hashOrNull(pick(record, 'transaction_hash', 'tx_hash')) ?? blockHash;
  return {
    address: addressIn(record, 'address'),
    ...given('block_hash', blockHash),
    ...given('block_number', countOrNull(record.block_number)),
    data: required(hexOrNull(record.data), 'data'),
    decoded: decodedLogOrNull(record.decoded),
    index: required(countOrNull(record.index), 'index'),
    smart_contract: addressOrNullIn(record, 'smart_contract'),
    topics: topics(record.topics),
    transaction_hash: required(transactionHash, 'transaction_hash'),
  };
}

/** Upstream pads to four with null. Decision 26. */
function topics(value: unknown): string[] {
  const found: string[] = [];
  for (const topic of listOf(value)) {
    const hash = hashOrNull(topic);
    if (hash !== null) found.push(hash);
  }
  return found;
}
