import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import type { LogRow } from '#indexer/read/blocks/logs.ts';
import { decodedLog } from '../parts/decoded.ts';
import type { Parties } from '../parts/parties.ts';

/** One log. `smart_contract` is whom the transaction called, not who emitted the log. */
export function logRecord(row: LogRow, abis: Abis, parties: Parties): ExplorerSchemas['Log'] {
  return {
    address: parties.address(row.address),
    block_hash: row.blockHash,
    block_number: row.blockNumber,
    data: row.data,
    decoded: decodedLog(abis, row),
    index: row.index,
    smart_contract: parties.addressOrNull(row.transactionTo),
    topics: row.topics,
    transaction_hash: row.transactionHash,
  };
}
