import { setImmediate } from 'node:timers/promises';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { BlockPart, SetAsideReason } from '../../model/set-aside.ts';
import type { Transfer } from '../../model/transfer.ts';
import { coinTransferOf, sendsCoins } from './coin-blocks.ts';
import { LookSpent } from './node-pool.ts';
import { type BlockOutline, type NodeView, slices } from './node-view.ts';
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
  readonly view: NodeView;
  readonly chainId: number;
  readonly watched: WatchedAddresses;
  /** See `loggedTransferOf`. */
  readonly coinLogsFrom: number | undefined;
}

/** Reads one transaction. Undefined when the node lacks it, or has it in another block. */
export type PieceReader = (
  block: BlockOutline,
  hash: string,
  options: PiecesOptions,
) => Promise<readonly Transfer[] | undefined>;

/** Logs that are decoded in one turn of the event loop. */
const LOGS_PER_TURN = 500;

/** Readers of the parts of every block: for logs of a transaction's receipt, for coins of what it sends. */
export const PIECE_READERS = { tokens: tokensOf, coins: coinsOf } as const satisfies PieceReaders;

/** Readers of parts of blocks. */
export type PieceReaders = Readonly<Partial<Record<BlockPart, PieceReader>>>;

/** Reads the transactions at some positions of a block, each alone. */
export async function readPieces(
  block: BlockOutline,
  indexes: readonly number[],
  { read, ...options }: PiecesOptions & { readonly read: PieceReader },
): Promise<Pieces> {
  const transfers: Transfer[] = [];
  const tried: number[] = [];
  const unread: number[] = [];
  let reason: SetAsideReason | undefined;
  let isNodeInDoubt = false;
  const answers = await Promise.allSettled(indexes.map(at => read(block, block.hashes[at] ?? '', options)));
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

/** Transactions of a block whose receipts are requested at a time. */
const PIECES_AT_A_TIME = 50;

/**
 * Reads the logs of a block transaction by transaction. `isWhole` is false when some could not be read. Undefined when the
 * block was replaced, or when the look is spent.
 */
export async function wholeBlock(
  { number, hash }: Pick<BlockOutline, 'number' | 'hash'>,
  options: PiecesOptions,
): Promise<{ readonly transfers: readonly Transfer[]; readonly isWhole: boolean } | undefined> {
  const outline = await options.view.outline(number);
  if (outline?.hash !== hash) return undefined;
  const transfers: Transfer[] = [];
  let isWhole = true;
  for (const indexes of slices([...outline.hashes.keys()], PIECES_AT_A_TIME)) {
    const pieces = await readPieces(outline, indexes, { ...options, read: tokensOf });
    if (pieces.tried.length < indexes.length) return undefined;
    // A node that answers nothing at all has failed, and nothing is wrong with the transactions.
    if (pieces.isNodeInDoubt) await options.view.head();
    isWhole &&= pieces.unread.length === 0;
    for (const transfer of pieces.transfers) transfers.push(transfer);
  }
  return { transfers, isWhole };
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
