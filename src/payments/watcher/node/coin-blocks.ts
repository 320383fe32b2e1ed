import { setImmediate } from 'node:timers/promises';
import type { Hex } from 'viem';
import { NATIVE_COIN } from '../../model/payment-chain.ts';
import { NO_LOG, type Transfer } from '../../model/transfer.ts';
import type {
  FullBlock,
  Header,
  LinkedHeader,
  NodeReads,
  NodeView,
  RpcTransaction,
  RpcTransactionReceipt,
} from './node-view.ts';

/** Bytes of a transaction in a block, without its input. */
const TRANSACTION_BYTES = 700;
/** Transactions that are read in one turn of the event loop. */
const TRANSACTIONS_PER_TURN = 2_000;

/** The fields of a transaction that make a payment, or those of coins that moved inside one. */
interface Sending extends Pick<RpcTransaction, 'from'> {
  readonly hash: string;
  /** Missing or null for a deployment. */
  readonly to?: RpcTransaction['to'] | undefined;
  readonly value: Hex | bigint;
}

/** A transaction that sends coins. `succeeded` is undefined until its receipt was read. */
export interface Payment {
  readonly header: Header;
  readonly transaction: Sending;
  succeeded?: boolean;
}

/** A block with its payments to any address. */
export interface ReadBlock extends LinkedHeader {
  readonly payments: readonly Payment[];
}

/** A block as it was read, and about how long its JSON is. */
export interface MeasuredBlock {
  readonly block: ReadBlock;
  readonly bytes: number;
}

/** True for a transaction that sends coins to another address. One to itself moves nothing (Decision 111). */
export function sendsCoins({ from, to, value }: Sending): boolean {
  return BigInt(value) > 0n && typeof to === 'string' && to.toLowerCase() !== from.toLowerCase();
}

/** The transfer of coins in that block, as of a transaction that sends them directly. */
export function coinTransferOf(
  { hash, from, to, value }: Sending,
  { chainId, header }: { chainId: number; header: Header },
): Transfer {
  return {
    chainId,
    txHash: hash.toLowerCase(),
    logIndex: NO_LOG,
    blockNumber: header.number,
    blockHash: header.hash,
    blockTime: header.time,
    tokenAddress: NATIVE_COIN,
    sender: from.toLowerCase(),
    recipient: `${to}`.toLowerCase(),
    amount: BigInt(value),
  };
}

export async function readBlock({ transactions, ...header }: FullBlock): Promise<MeasuredBlock> {
  const payments: Payment[] = [];
  let bytes = 0;
  for (const [index, { hash, from, to, value, input }] of transactions.entries()) {
    if (index > 0 && index % TRANSACTIONS_PER_TURN === 0) await setImmediate();
    bytes += TRANSACTION_BYTES + input.length;
    const transaction = { hash, from, to, value };
    if (sendsCoins(transaction)) payments.push({ header, transaction });
  }
  return { block: { ...header, payments }, bytes };
}

/**
 * Receipt of a transaction that sends coins. If it says that the transaction failed, that of another node which shows a
 * success in the same block (Decision 383).
 */
export async function coinReceipt(view: NodeView, hash: string): Promise<RpcTransactionReceipt | undefined> {
  const ofNode = async (one: NodeReads) => (await one.receipts([hash])).get(hash.toLowerCase());
  const receipt = await ofNode(view);
  if (receipt === undefined || Number(receipt.status) === 1) return receipt;
  const nodes = view.eachNode();
  for (const one of nodes.length > 1 ? nodes : []) {
    const other = await ofNode(one).catch(() => undefined);
    if (other?.blockHash === receipt.blockHash && Number(other.status) === 1) return other;
  }
  return receipt;
}

/** True when each block is the parent of the next one, and a block with the number of the head is the head. */
export function isChain(blocks: readonly ReadBlock[], head: Header): boolean {
  const last = blocks.at(-1);
  return (
    (last?.number !== head.number || last.hash === head.hash) &&
    blocks.every((block, index) => index === 0 || block.parentHash === blocks[index - 1]?.hash)
  );
}
