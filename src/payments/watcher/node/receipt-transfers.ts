import { setImmediate } from 'node:timers/promises';
import { isWithoutLog, NO_LOG, type Transfer } from '../../model/transfer.ts';
import { type LogInBlock, loggedTransferOf } from './token-transfers.ts';

/** The facts of a receipt that a payment is judged by. */
export interface ReceiptTransfers {
  /** Lower case. */
  readonly blockHash: string;
  readonly hasSucceeded: boolean;
  /** All transfers that have a log, by its index. */
  readonly transfers: ReadonlyMap<number, Transfer>;
}

/** A transfer as it is stored. */
export interface RecordedTransfer {
  readonly logIndex: number | null;
  readonly blockHash: string | null;
  readonly tokenAddress: string;
  readonly sender: string | null;
  readonly recipient: string;
  readonly amount: bigint;
}

/** Logs that are decoded in one turn of the event loop. */
const LOGS_PER_TURN = 1_000;

/** A receipt as a node sent it. */
interface ReceiptInBlock {
  readonly blockHash: string;
  readonly blockNumber: string | null;
  readonly status?: string | null;
  readonly logs: readonly LogInBlock[];
}

/** Decodes each log of a receipt once, however many transfers of the transaction are recorded. */
export async function receiptTransfers(
  { blockHash, blockNumber, status, logs }: ReceiptInBlock,
  chainId: number,
): Promise<ReceiptTransfers> {
  const header = { number: Number(blockNumber), hash: blockHash.toLowerCase(), time: 0 };
  const transfers = new Map<number, Transfer>();
  for (const [index, log] of logs.entries()) {
    if (index > 0 && index % LOGS_PER_TURN === 0) await setImmediate();
    const transfer = loggedTransferOf(log, { chainId, header, ...EVERY_TRANSFER });
    if (transfer !== undefined) transfers.set(transfer.logIndex, transfer);
  }
  return { blockHash: header.hash, hasSucceeded: Number(status) === 1, transfers };
}

/** A recorded transfer may be to a recipient that is no longer watched. Coins with a log index were read from a log. */
const EVERY_TRANSFER = { watched: { has: () => true }, coinLogsFrom: 0 };

/**
 * True when the receipt contains the recorded transfer: the transaction succeeded and has the same log. Undefined when
 * the receipt is of another block; the next look decides then.
 */
export function shows(receipt: ReceiptTransfers, row: RecordedTransfer): boolean | undefined {
  if (receipt.blockHash !== row.blockHash) return undefined;
  if (!receipt.hasSucceeded) return false;
  if (row.logIndex !== null && isWithoutLog(row.logIndex)) return true;
  const found = receipt.transfers.get(row.logIndex ?? NO_LOG);
  return (
    found !== undefined &&
    found.tokenAddress === row.tokenAddress &&
    found.recipient === row.recipient &&
    found.sender === row.sender &&
    found.amount === row.amount
  );
}
