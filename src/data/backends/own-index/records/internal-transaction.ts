import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { InternalTransactionRow } from '#indexer/read/blocks/internal-transactions.ts';
import type { Parties } from '../parts/parties.ts';
import { timestamp } from '../parts/text.ts';

/** One internal transaction. The heir of a self-destruction was not called, so `to` is null there. */
export function internalTransaction(
  row: InternalTransactionRow,
  parties: Parties,
): ExplorerSchemas['InternalTransaction'] {
  return {
    block_number: row.blockNumber,
    created_contract: parties.addressOrNull(row.createdContract),
    error: row.error,
    from: parties.address(row.from),
    gas_limit: row.gasLimit.toString(),
    index: row.traceIndex,
    success: row.error === null,
    timestamp: timestamp(row.timestamp),
    to: row.type === 'selfdestruct' ? null : parties.addressOrNull(row.to),
    transaction_hash: row.transactionHash,
    type: row.type,
    value: row.value.toString(),
  };
}
