import { NATIVE_COIN } from '../../model/payment-chain.ts';
import { NO_LOG, type Transfer } from '../../model/transfer.ts';
import {
  type BlockRange,
  type FullBlock,
  type Header,
  inSlices,
  type LinkedHeader,
  type NodeView,
  type RpcTransaction,
} from './node-view.ts';
import type { Places } from './token-transfers.ts';

/**
 * Reads payments in the native coin that transactions send directly. Coins sent by a contract leave no log and no
 * transaction, so they are not found.
 */
export interface NativeReader {
  /**
   * Undefined when the node lacks a block of the range, or the blocks do not lead to `last`, the range's last block as
   * it was read before.
   */
  transfers(range: BlockRange & { readonly last: Header }, places: Places): Promise<Transfer[] | undefined>;
}

/** The fields of a transaction that make a payment. */
type Sending = Pick<RpcTransaction, 'hash' | 'from' | 'to' | 'value'>;

/** A transaction that sends coins. `succeeded` is undefined until its receipt was read. */
interface Payment {
  readonly header: Header;
  readonly transaction: Sending;
  succeeded?: boolean;
}

/** A block with its payments to any address. */
interface ReadBlock extends LinkedHeader {
  readonly payments: readonly Payment[];
}

const BLOCKS_AT_A_TIME = 20;
/** Blocks kept in memory, because each new block causes another scan of the window before it. */
const REMEMBERED_BLOCKS = 300;

/** Keeps the latest blocks in memory, linked by their parent hashes, so a new head costs one block. */
export function nativeReader(chainId: number, view: NodeView): NativeReader {
  const remembered = new Map<number, ReadBlock>();

  async function blocksOf(range: BlockRange & { last: Header }): Promise<ReadBlock[] | undefined> {
    const isRemembered = numbersOf(range).some(number => remembered.has(number));
    const blocks = await read(range);
    if (blocks === undefined || isChain(blocks, range.last)) return blocks;
    // Some blocks were replaced since they were read, or during this reading.
    remembered.clear();
    const again = isRemembered ? await read(range) : undefined;
    return again !== undefined && isChain(again, range.last) ? again : undefined;
  }

  async function read(range: BlockRange): Promise<ReadBlock[] | undefined> {
    const numbers = numbersOf(range);
    const unread = numbers.filter(number => !remembered.has(number));
    const fresh = await inSlices(unread, BLOCKS_AT_A_TIME, async slice =>
      (await view.blocks(slice)).map(readBlock),
    );
    for (const block of fresh) remembered.set(block.number, block);
    const blocks = numbers.flatMap(number => remembered.get(number) ?? []);
    for (const number of remembered.keys()) {
      if (number <= range.to - REMEMBERED_BLOCKS) remembered.delete(number);
    }
    return blocks.length < numbers.length ? undefined : blocks;
  }

  return {
    async transfers(range, places) {
      const blocks = await blocksOf(range);
      if (blocks === undefined) return undefined;
      const all = blocks.flatMap(block => block.payments);
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

/** The transfer of the coins that a transaction of that block sends directly. */
export function nativeTransfer(
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

function readBlock({ transactions, ...header }: FullBlock): ReadBlock {
  const payments = transactions
    .filter(({ to, value }) => to !== null && to !== undefined && BigInt(value) > 0n)
    .map(({ hash, from, to, value }) => ({ header, transaction: { hash, from, to, value } }));
  return { ...header, payments };
}

/** True when each block is the parent of the next one and the final one is `last`. */
function isChain(blocks: readonly ReadBlock[], last: Header): boolean {
  return (
    blocks.at(-1)?.hash === last.hash &&
    blocks.every((block, index) => index === 0 || block.parentHash === blocks[index - 1]?.hash)
  );
}

function numbersOf({ from, to }: BlockRange): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}
