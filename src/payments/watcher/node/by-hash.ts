import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { Transfer } from '../../model/transfer.ts';
import { nativeTransfer, sendsCoins } from './coin-blocks.ts';
import type { Header, NodeView, RpcTransaction, RpcTransactionReceipt } from './node-view.ts';
import { type Places, tokenTransfer } from './token-transfers.ts';

/** Chain state of a hash: mined in a block, waiting in the pool, or unknown (both undefined). */
export interface Lookup {
  readonly transaction: RpcTransaction | undefined;
  /** Only for a block on the chain, up to the head of the round. */
  readonly mined: { readonly receipt: RpcTransactionReceipt; readonly header: Header } | undefined;
}

/**
 * Looks up transactions by their lower-case hashes, each alone. Hashes whose look-up fails, or for which the node
 * contradicts itself, are left out.
 * @throws the error of the node when it does not answer anything else either
 */
export async function lookUp(hashes: Iterable<string>, round: LookUpDeps): Promise<Map<string, Lookup>> {
  const asked = [...new Set(hashes)];
  const answers = await Promise.allSettled(asked.map(hash => lookUpOne(hash, round)));
  if (answers.some(({ status }) => status === 'rejected')) await round.view.head();
  return new Map(
    asked.flatMap((hash, index) => {
      const answer = answers[index];
      return answer?.status === 'fulfilled' && answer.value !== undefined ? [[hash, answer.value]] : [];
    }),
  );
}

interface LookUpDeps {
  readonly view: NodeView;
  readonly head: Header;
}

async function lookUpOne(hash: string, { view, head }: LookUpDeps): Promise<Lookup | undefined> {
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

/** Transfers of a mined transaction to the watched recipients; empty when it failed. */
export function transfersIn(
  { transaction, mined }: Lookup,
  { chainId, places }: { chainId: number; places: Places },
): Transfer[] {
  if (mined === undefined || Number(mined.receipt.status) !== 1) return [];
  const { receipt, header } = mined;
  const transfers = receipt.logs.flatMap(log => tokenTransfer(log, { chainId, header, places }) ?? []);
  const isCoin =
    transaction !== undefined &&
    sendsCoins(transaction) &&
    places.has(NATIVE_COIN, `${transaction.to}`.toLowerCase());
  return isCoin ? [nativeTransfer(transaction, { chainId, header }), ...transfers] : transfers;
}
