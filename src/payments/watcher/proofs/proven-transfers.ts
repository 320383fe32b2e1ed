import { setImmediate } from 'node:timers/promises';
import { bytesToHex, numberToHex } from 'viem';
import { lowerCase } from '#evm/address.ts';
import type { BlockContents } from '#evm/proofs/block-proof.ts';
import { signedSender } from '#evm/proofs/signed-sender.ts';
import { encodedTransaction } from '#evm/proofs/transaction-encoding.ts';
import type { RpcTransaction } from '#evm/rpc.ts';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import { byChainOrder, isWithoutLog, type Transfer } from '../../model/transfer.ts';
import { coinTransferOf, sendsCoins } from '../node/coin-blocks.ts';
import type { Header } from '../node/node-view.ts';
import {
  type ReceiptTransfers,
  type RecordedTransfer,
  receiptTransfers,
  shows,
} from '../node/receipt-transfers.ts';
import { hasReached, type LogInBlock, type WatchedAddresses } from '../node/token-transfers.ts';

/** A transaction of a proven block, as far as payments are judged by it. Hex is lower case. */
export interface ProvenTransaction {
  readonly receipt: ReceiptTransfers;
  /** Coins that it sends itself, in wei. */
  readonly sent: { readonly from: string; readonly to: string; readonly value: bigint };
}

/** A proven block. Hashes are lower case, `time` is in UTC milliseconds. */
export interface ProvenContents {
  readonly kind: 'proven';
  readonly parentHash: string;
  readonly time: number;
  /** Those in question, by their hashes. */
  readonly transactions: ReadonlyMap<string, ProvenTransaction>;
}

/** A transaction of a proven block in an index. Hex is lower case. */
export interface IndexedTransaction {
  readonly hash: string;
  readonly from: string;
  /** Null for a creation. */
  readonly to: string | null;
  /** In wei. */
  readonly value: bigint;
  readonly hasSucceeded: boolean;
  /** Those that have the form of an ERC-20 transfer, with their positions in the block. */
  readonly logs: readonly (Pick<LogInBlock, 'address' | 'topics' | 'data'> & { readonly index: number })[];
}

/**
 * Decodes the transactions of a proven block, or those that `hashes` names, by their lower-case hashes. The senders of
 * coins are those of the signatures. Without `hashes`, this takes only the coins to certain receivers into account, because
 * each signature takes a millisecond.
 */
export async function provenTransactions(
  { block, transactions, receipts }: BlockContents,
  {
    chainId,
    hashes,
    isReceiver = () => true,
  }: {
    readonly chainId: number;
    readonly hashes: ReadonlySet<string> | undefined;
    readonly isReceiver?: ((address: string) => boolean) | undefined;
  },
): Promise<ReadonlyMap<string, ProvenTransaction>> {
  const { hash: blockHash, number: blockNumber } = block;
  const found = new Map<string, ProvenTransaction>();
  for (const [at, transaction] of transactions.entries()) {
    const { hash, to, value } = transaction;
    const receipt = receipts[at];
    if (hashes?.has(hash.toLowerCase()) === false || !receipt) continue;
    // The hash commits to the contents of a log. Its block and transaction are those in which it stands.
    const placed = { blockHash, blockNumber, transactionHash: hash, removed: false };
    const logs = receipt.logs.map(log => ({ ...log, ...placed }));
    found.set(hash.toLowerCase(), {
      receipt: await receiptTransfers({ ...receipt, blockHash: blockHash ?? '', blockNumber, logs }, chainId),
      sent: {
        from: (BigInt(value) > 0n && isReceiver(`${to}`.toLowerCase())
          ? await senderOf(transaction)
          : transaction.from
        ).toLowerCase(),
        to: `${to}`.toLowerCase(),
        value: BigInt(value),
      },
    });
  }
  return found;
}

/** The sender by the signature, or the one that the node names if there is no signature that says it. */
async function senderOf(transaction: RpcTransaction): Promise<string> {
  // Anyone may fill blocks with coins to a watched address.
  await setImmediate();
  const encoded = encodedTransaction(transaction);
  const sender = encoded && (await signedSender(bytesToHex(encoded)).catch(() => undefined));
  return sender ?? transaction.from;
}

/** The same for the transactions of a block in an index. */
export async function indexedTransactions(
  transactions: readonly IndexedTransaction[],
  {
    chainId,
    number,
    hash: block,
  }: { readonly chainId: number; readonly number: number; readonly hash: string },
): Promise<ReadonlyMap<string, ProvenTransaction>> {
  const [blockHash, blockNumber] = [lowerCase(block), numberToHex(number)];
  const found = new Map<string, ProvenTransaction>();
  for (const { hash, from, to, value, hasSucceeded, logs } of transactions) {
    const placed = { blockHash, blockNumber, transactionHash: lowerCase(hash), removed: false };
    const receipt = {
      blockHash,
      blockNumber,
      status: hasSucceeded ? '0x1' : '0x0',
      logs: logs.map(({ index, ...log }) => ({ ...log, ...placed, logIndex: numberToHex(index) })),
    };
    found.set(hash, {
      receipt: await receiptTransfers(receipt, chainId),
      sent: { from, to: `${to}`, value },
    });
  }
  return found;
}

/** Transfers to watched addresses in transactions of a proven block. */
export function transfersTo(
  watched: Pick<WatchedAddresses, 'has'>,
  transactions: ProvenContents['transactions'],
  context: { readonly chainId: number; readonly header: Header; readonly coinLogsFrom: number | undefined },
): Transfer[] {
  const { header, coinLogsFrom } = context;
  const hasCoinLogs = hasReached(header.number, coinLogsFrom);
  const found: Transfer[] = [];
  for (const [hash, { receipt, sent }] of transactions) {
    if (!receipt.hasSucceeded) continue;
    const sending = { hash, from: lowerCase(sent.from), to: lowerCase(sent.to), value: sent.value };
    if (!hasCoinLogs && sendsCoins(sending) && watched.has(NATIVE_COIN, sending.to))
      found.push(coinTransferOf(sending, context));
    for (const one of receipt.transfers.values()) {
      const isRead = one.tokenAddress !== NATIVE_COIN || hasCoinLogs;
      if (isRead && watched.has(one.tokenAddress, one.recipient))
        found.push({ ...one, blockTime: header.time });
    }
  }
  return found.sort(byChainOrder);
}

/** True when the transaction of a proven block contains the recorded transfer. False also for coins from a contract. */
export function contains(found: ProvenTransaction | undefined, row: RecordedTransfer): boolean {
  if (found === undefined || shows(found.receipt, row) !== true) return false;
  if (row.logIndex === null || !isWithoutLog(row.logIndex)) return true;
  const { from, to, value } = found.sent;
  return from === row.sender && to === row.recipient && value === row.amount;
}
