import { setImmediate } from 'node:timers/promises';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { BlockPart, SetAsideReason } from '../../model/set-aside.ts';
import type { Transfer } from '../../model/transfer.ts';
import { coinTransferOf, sendsCoins } from './coin-blocks.ts';
import { LookSpent } from './node-pool.ts';
import type { BlockOutline, NodeView } from './node-view.ts';
import { loggedTransferOf, type WatchedAddresses } from './token-transfers.ts';
import { setAsideReasonOf } from './transfer-logs.ts';

/** Result of reading some transactions of a block. */
export interface Pieces {
  readonly transfers: readonly Transfer[];
  /** Positions of the transactions that were tried. The look may have used up its bytes before the others. */
  readonly tried: readonly number[];
  /** Those that could not be read, with the reason of the last one. */
  readonly unread: readonly number[];
  readonly reason: SetAsideReason | undefined;
  /** True when the node left one of them unanswered. */
  readonly isNodeInDoubt: boolean;
}

interface PiecesOptions {
  readonly part: BlockPart;
  readonly view: NodeView;
  readonly chainId: number;
  readonly watched: WatchedAddresses;
  /** See `loggedTransferOf`. */
  readonly coinLogsFrom: number | undefined;
}

/** Logs that are decoded in one turn of the event loop. */
const LOGS_PER_TURN = 500;

/** Reads the transactions at some positions of a block, each alone: for logs its receipt, for coins what it sends. */
export async function readPieces(
  block: BlockOutline,
  indexes: readonly number[],
  options: PiecesOptions,
): Promise<Pieces> {
  const transfers: Transfer[] = [];
  const tried: number[] = [];
  const unread: number[] = [];
  let reason: SetAsideReason | undefined;
  let isNodeInDoubt = false;
  const answers = await Promise.allSettled(indexes.map(at => pieceAt(block, at, options)));
  for (const [index, at] of indexes.entries()) {
    const answer = answers[index];
    if (answer?.status === 'rejected' && answer.reason instanceof LookSpent) break;
    tried.push(at);
    if (answer?.status === 'fulfilled' && answer.value !== undefined) {
      for (const transfer of answer.value) transfers.push(transfer);
    } else {
      unread.push(at);
      reason = answer?.status === 'rejected' ? setAsideReasonOf(answer.reason) : 'missing';
      isNodeInDoubt ||= reason === 'unanswered';
    }
  }
  return { transfers, tried, unread, reason, isNodeInDoubt };
}

/** Undefined when the node lacks the transaction, or has it in another block. */
function pieceAt(
  block: BlockOutline,
  at: number,
  options: PiecesOptions,
): Promise<readonly Transfer[] | undefined> {
  const hash = block.hashes[at] ?? '';
  return options.part === 'tokens' ? tokensOf(block, hash, options) : coinsOf(block, hash, options);
}

async function tokensOf(
  header: BlockOutline,
  hash: string,
  { view, ...context }: PiecesOptions,
): Promise<readonly Transfer[] | undefined> {
  const receipt = (await view.receipts([hash])).get(hash);
  if (receipt?.blockHash.toLowerCase() !== header.hash) return undefined;
  if (Number(receipt.status) !== 1) return [];
  const transfers: Transfer[] = [];
  for (const [index, log] of receipt.logs.entries()) {
    if (index > 0 && index % LOGS_PER_TURN === 0) await setImmediate();
    const transfer = loggedTransferOf(log, { ...context, header });
    if (transfer !== undefined) transfers.push(transfer);
  }
  return transfers;
}

async function coinsOf(
  header: BlockOutline,
  hash: string,
  { view, chainId, watched }: PiecesOptions,
): Promise<readonly Transfer[] | undefined> {
  const transaction = (await view.transactions([hash])).get(hash);
  if (transaction?.blockHash?.toLowerCase() !== header.hash) return undefined;
  const isPayment = sendsCoins(transaction) && watched.has(NATIVE_COIN, `${transaction.to}`.toLowerCase());
  if (!isPayment || (await hasFailed(hash, view))) return [];
  return [coinTransferOf(transaction, { chainId, header })];
}

/** False also when its receipt cannot be read: it is asked for again before the payment is completed. */
async function hasFailed(hash: string, view: NodeView): Promise<boolean> {
  try {
    return Number((await view.receipts([hash])).get(hash)?.status ?? 1) === 0;
  } catch (error) {
    if (error instanceof LookSpent) throw error;
    setAsideReasonOf(error);
    return false;
  }
}
