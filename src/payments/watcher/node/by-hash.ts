import { NATIVE_COIN } from '../../model/payment-chain.ts';
import type { Transfer } from '../../model/transfer.ts';
import { nativeTransfer } from './native-transfers.ts';
import type { Header, NodeView, RpcTransaction, RpcTransactionReceipt } from './node-view.ts';
import { type Places, tokenTransfer } from './token-transfers.ts';

/** Chain state of a hash: mined in a block, waiting in the pool, or unknown (both undefined). */
export interface Lookup {
  readonly transaction: RpcTransaction | undefined;
  /** Only for a block on the chain, up to the head of the round. */
  readonly mined: { readonly receipt: RpcTransactionReceipt; readonly header: Header } | undefined;
}

/** Looks up transactions by their lower-case hashes. Hashes with contradictory answers of the node are left out. */
export async function lookUp(
  hashes: Iterable<string>,
  { view, head }: { view: NodeView; head: Header },
): Promise<Map<string, Lookup>> {
  const asked = [...new Set(hashes)];
  // Receipts come second: a transaction mined in between is then found twice, and never missed twice.
  const transactions = await view.transactions(asked);
  const receipts = await view.receipts(asked);
  const headers = await view.headers([...receipts.values()].map(one => Number(one.blockNumber)));
  const found = new Map<string, Lookup>();
  for (const hash of asked) {
    const receipt = receipts.get(hash);
    const transaction = transactions.get(hash);
    if (receipt === undefined) {
      // Mined, but without a receipt: the node contradicts itself, so its answer is not used.
      const isPlain = transaction?.blockHash === undefined || transaction.blockHash === null;
      if (isPlain) found.set(hash, { transaction, mined: undefined });
      continue;
    }
    const header = headers.get(Number(receipt.blockNumber));
    if (header?.hash !== receipt.blockHash.toLowerCase() || header.number > head.number) continue;
    found.set(hash, { transaction, mined: { receipt, header } });
  }
  return found;
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
    BigInt(transaction.value) > 0n &&
    places.has(NATIVE_COIN, `${transaction.to}`.toLowerCase());
  return isCoin ? [nativeTransfer(transaction, { chainId, header }), ...transfers] : transfers;
}
