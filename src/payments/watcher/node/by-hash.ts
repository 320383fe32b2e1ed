import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { Transfer } from '../../model/transfer.ts';
import { coinTransferOf, sendsCoins } from './coin-blocks.ts';
import type { Header, NodeReads, RpcTransaction, RpcTransactionReceipt } from './node-view.ts';
import { hasReached, loggedTransferOf, type WatchedAddresses } from './token-transfers.ts';

/** Chain state of a hash: mined in a block, waiting in the pool, or unknown (both undefined). */
export interface HashLookup {
  readonly transaction: RpcTransaction | undefined;
  /** Only for a block on the chain, up to the head of the look. */
  readonly mined: { readonly receipt: RpcTransactionReceipt; readonly header: Header } | undefined;
}

/**
 * Looks up transactions by their lower-case hashes, each alone. Hashes whose look-up fails, or for which the node
 * contradicts itself, are left out.
 * @throws the error of the node when it does not answer anything else either
 */
export async function lookUp(hashes: Iterable<string>, look: LookUpDeps): Promise<Map<string, HashLookup>> {
  const asked = [...new Set(hashes)];
  const answers = await Promise.allSettled(asked.map(hash => lookUpOne(hash, look)));
  if (answers.some(({ status }) => status === 'rejected')) await look.view.head();
  return new Map(
    asked.flatMap((hash, index) => {
      const answer = answers[index];
      return answer?.status === 'fulfilled' && answer.value !== undefined ? [[hash, answer.value]] : [];
    }),
  );
}

interface LookUpDeps {
  readonly view: NodeReads;
  readonly head: Header;
}

async function lookUpOne(hash: string, { view, head }: LookUpDeps): Promise<HashLookup | undefined> {
  // The receipt comes second: a transaction mined in between is then found twice, and never missed twice.
  const transaction = (await view.transactions([hash])).get(hash);
  const receipt = (await view.receipts([hash])).get(hash);
  if (receipt === undefined) {
    // Mined, but without a receipt: the node contradicts itself, so its answer is not used.
    const isPlain = transaction?.blockHash === undefined || transaction.blockHash === null;
    return isPlain ? { transaction, mined: undefined } : undefined;
  }
  const number = Number(receipt.blockNumber);
  const header = (await view.headers([number])).get(number);
  if (header?.hash !== receipt.blockHash.toLowerCase() || header.number > head.number) return undefined;
  return { transaction, mined: { receipt, header } };
}

/** Chain of a look, and what is looked for in a transaction. */
interface TransfersWanted {
  readonly chainId: number;
  readonly watched: Pick<WatchedAddresses, 'has'>;
  /** See `loggedTransferOf`. */
  readonly coinLogsFrom: number | undefined;
}

/** Transfers of a mined transaction to the watched recipients; empty when it failed. */
export function transfersIn(
  { transaction, mined }: HashLookup,
  { watched, ...context }: TransfersWanted,
): Transfer[] {
  if (mined === undefined || Number(mined.receipt.status) !== 1) return [];
  const { receipt, header } = mined;
  const transfers = receipt.logs.flatMap(log => loggedTransferOf(log, { ...context, header, watched }) ?? []);
  if (hasReached(header.number, context.coinLogsFrom)) return transfers;
  const isCoin =
    transaction !== undefined &&
    sendsCoins(transaction) &&
    watched.has(NATIVE_COIN, `${transaction.to}`.toLowerCase());
  return isCoin ? [coinTransferOf(transaction, { ...context, header }), ...transfers] : transfers;
}
