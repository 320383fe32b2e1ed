import { NO_LOG } from '../../model/transfer.ts';
import type { Header, NodeView, RpcTransactionReceipt } from './node-view.ts';
import { places, tokenTransfer } from './token-transfers.ts';

/** A transfer as it is stored. The block is null until it was seen. */
export interface RecordedRow {
  readonly chainId: number;
  readonly txHash: string | null;
  readonly logIndex: number | null;
  readonly blockNumber: number | null;
  readonly blockHash: string | null;
  readonly tokenAddress: string;
  readonly sender: string | null;
  readonly recipient: string;
  readonly amount: bigint;
}

/** The stored block of a row. */
export type RecordedBlock = Pick<RecordedRow, 'blockNumber' | 'blockHash'>;

/** Rows sorted by the chain's answer about their block. Rows above the head of the round are in none of the lists. */
export interface CanonicalRows<Row> {
  readonly standing: readonly Row[];
  readonly gone: readonly Row[];
  /** Rows that the node has no answer for yet. */
  readonly unknown: readonly Row[];
}

/**
 * Compares the block hashes of rows with those of the chain, up to the head of this round. All rows are unknown when
 * the chain no longer has that head, because confirmations are counted from it.
 */
export async function canonicalRows<Row extends RecordedBlock>(
  rows: readonly Row[],
  { view, head }: { view: NodeView; head: Header },
): Promise<CanonicalRows<Row>> {
  const reachable = rows.filter(row => row.blockNumber !== null && row.blockNumber <= head.number);
  if (reachable.length === 0) return { standing: [], gone: [], unknown: [] };
  const headers = await view.headers([...reachable.map(row => row.blockNumber ?? 0), head.number]);
  if (headers.get(head.number)?.hash !== head.hash) {
    return { standing: [], gone: [], unknown: reachable };
  }
  const isKnown = (row: Row) => headers.has(row.blockNumber ?? -1);
  const stands = (row: Row) => headers.get(row.blockNumber ?? -1)?.hash === row.blockHash;
  return {
    standing: reachable.filter(stands),
    gone: reachable.filter(row => isKnown(row) && !stands(row)),
    unknown: reachable.filter(row => !isKnown(row)),
  };
}

/**
 * True when the receipt contains the recorded transfer: the transaction succeeded and has the same log. Undefined when
 * the receipt is of another block; the next round decides then.
 */
export function shows(receipt: RpcTransactionReceipt, row: RecordedRow): boolean | undefined {
  if (receipt.blockHash.toLowerCase() !== row.blockHash) return undefined;
  if (Number(receipt.status) !== 1) return false;
  if (row.logIndex === NO_LOG) return true;
  const header = { number: row.blockNumber ?? -1, hash: row.blockHash, time: 0 };
  const place = places([{ tokenAddress: row.tokenAddress, recipientAddress: row.recipient }]);
  return receipt.logs
    .map(log => tokenTransfer(log, { chainId: row.chainId, header, places: place }))
    .some(
      found => found?.logIndex === row.logIndex && found.sender === row.sender && found.amount === row.amount,
    );
}
