import type { BlockContents } from '#evm/proofs/block-proof.ts';
import { isWithoutLog } from '../../model/transfer.ts';
import {
  type ReceiptTransfers,
  type RecordedTransfer,
  receiptTransfers,
  shows,
} from '../node/receipt-transfers.ts';

/** A transaction of a proven block, as far as payments are judged by it. Hex is lower case. */
export interface ProvenTransaction {
  readonly receipt: ReceiptTransfers;
  /** Coins that it sends itself, in wei. */
  readonly sent: { readonly from: string; readonly to: string; readonly value: bigint };
}

/** Decodes some transactions of a proven block, by their lower-case hashes. */
export async function provenTransactions(
  { block, transactions, receipts }: BlockContents,
  { chainId, hashes }: { readonly chainId: number; readonly hashes: ReadonlySet<string> },
): Promise<ReadonlyMap<string, ProvenTransaction>> {
  const { hash: blockHash, number: blockNumber } = block;
  const found = new Map<string, ProvenTransaction>();
  for (const [at, { hash, from, to, value }] of transactions.entries()) {
    const receipt = receipts[at];
    if (!hashes.has(hash.toLowerCase()) || !receipt) continue;
    // The hash commits to the contents of a log. Its block and transaction are those in which it stands.
    const placed = { blockHash, blockNumber, transactionHash: hash, removed: false };
    const logs = receipt.logs.map(log => ({ ...log, ...placed }));
    found.set(hash.toLowerCase(), {
      receipt: await receiptTransfers({ ...receipt, blockHash: blockHash ?? '', blockNumber, logs }, chainId),
      sent: { from: from.toLowerCase(), to: `${to}`.toLowerCase(), value: BigInt(value) },
    });
  }
  return found;
}

/** True when the transaction of a proven block contains the recorded transfer. False also for coins from a contract. */
export function contains(found: ProvenTransaction | undefined, row: RecordedTransfer): boolean {
  if (found === undefined || shows(found.receipt, row) !== true) return false;
  if (row.logIndex === null || !isWithoutLog(row.logIndex)) return true;
  const { from, to, value } = found.sent;
  return from === row.sender && to === row.recipient && value === row.amount;
}
