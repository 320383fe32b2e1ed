import { NATIVE_COIN } from '../model/payment-chain.ts';
import { NO_LOG, type Transfer } from '../model/transfer.ts';
import type { BlockRange, FullBlock, Header, NodeView, RpcTransaction } from './node-view.ts';
import type { Places } from './places.ts';
import { inSlices } from './slices.ts';

/**
 * Reads payments in the native coin: what a transaction itself sends. Coins that a contract sends leave no log and no
 * transaction, so they are not seen.
 */
export interface NativeReader {
  /** Undefined when the node does not show every block of the range. */
  transfers(range: BlockRange, places: Places): Promise<Transfer[] | undefined>;
}

/** A transaction that sends coins, and whether it succeeded, once that was asked. */
interface Payment {
  readonly header: Header;
  readonly transaction: RpcTransaction;
  succeeded?: boolean;
}

const BLOCKS_AT_A_TIME = 20;
/** The blocks that are read again every round are remembered; beyond these they are asked for again. */
const REMEMBERED_BLOCKS = 300;

/** Remembers what it read by block hash, so blocks of the window are only read again when the chain changed. */
export function nativeReader(chainId: number, view: NodeView): NativeReader {
  const remembered = new Map<string, Payment[]>();

  async function paymentsIn(range: BlockRange): Promise<Payment[] | undefined> {
    const numbers = Array.from({ length: range.to - range.from + 1 }, (_, index) => range.from + index);
    const headers = [...(await view.headers(numbers)).values()];
    if (headers.length < numbers.length) return undefined;
    const unread = headers.filter(header => !remembered.has(header.hash)).map(header => header.number);
    const read = new Map<string, Payment[]>();
    await inSlices(unread, BLOCKS_AT_A_TIME, async slice => {
      const blocks = await view.blocks(slice);
      for (const block of blocks) read.set(block.hash, paymentsOf(block));
      return blocks;
    });
    const payments: Payment[] = [];
    for (const { hash } of headers) {
      const found = remembered.get(hash) ?? read.get(hash);
      if (found === undefined) return undefined;
      remember(hash, found);
      payments.push(...found);
    }
    return payments;
  }

  function remember(hash: string, payments: Payment[]): void {
    remembered.delete(hash);
    remembered.set(hash, payments);
    for (const oldest of remembered.keys()) {
      if (remembered.size <= REMEMBERED_BLOCKS) return;
      remembered.delete(oldest);
    }
  }

  return {
    async transfers(range, places) {
      const all = await paymentsIn(range);
      if (all === undefined) return undefined;
      const payments = all.filter(({ transaction: { to } }) =>
        places.has(NATIVE_COIN, `${to}`.toLowerCase()),
      );
      const unsure = payments.filter(payment => payment.succeeded === undefined);
      const receipts = await view.receipts(unsure.map(payment => payment.transaction.hash));
      for (const payment of unsure) {
        const receipt = receipts.get(payment.transaction.hash.toLowerCase());
        if (receipt?.blockHash.toLowerCase() !== payment.header.hash) return undefined;
        payment.succeeded = Number(receipt.status) === 1;
      }
      return payments
        .filter(payment => payment.succeeded === true)
        .map(({ transaction, header }) => nativeTransfer(transaction, { chainId, header }));
    },
  };
}

/** What a transaction of that block itself sends, as a transfer. */
export function nativeTransfer(
  { hash, from, to, value }: RpcTransaction,
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

function paymentsOf({ transactions, ...header }: FullBlock): Payment[] {
  return transactions
    .filter(({ to, value }) => to !== null && to !== undefined && BigInt(value) > 0n)
    .map(transaction => ({ header, transaction }));
}
