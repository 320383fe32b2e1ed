import { type Hash, numberToHex } from 'viem';
import type { RpcBlock, RpcTransaction } from '../../evm/rpc.ts';
import { ChainMoved } from '../../node/block-ref.ts';
import type { NodeCalls } from './fetched-block.ts';
import { oneByOne } from './unreadable.ts';

/** Header of a block, and its transactions as the node lists them: none when the list is malformed. */
export interface BlockBody {
  readonly number: number;
  readonly hash: Hash;
  readonly block: RpcBlock;
  readonly listed: readonly RpcTransaction[];
}

/**
 * Reads blocks with their transactions. A block whose transactions cannot be had in one answer is read by their hashes.
 * @throws ChainMoved when the node has no such block, or another one since the first request
 */
export function bodyReader({ request }: NodeCalls): (number: number) => Promise<BlockBody> {
  async function found(number: number, withTransactions: boolean) {
    const block = await request({
      method: 'eth_getBlockByNumber',
      params: [numberToHex(number), withTransactions],
    });
    if (block === null || block.hash === null) throw new ChainMoved(number);
    return { block, hash: block.hash, listed: Array.isArray(block.transactions) ? block.transactions : [] };
  }

  async function byHashes(number: number): Promise<BlockBody> {
    const { block, hash, listed: names } = await found(number, false);
    const hashes = names.filter(entry => typeof entry === 'string');
    const listed = await oneByOne(hashes, async one => {
      const transaction = await request({ method: 'eth_getTransactionByHash', params: [one] });
      if (transaction === null || transaction.blockHash !== hash) throw new ChainMoved(number);
      return transaction;
    });
    return { number, block, hash, listed };
  }

  return async number => {
    try {
      const { block, hash, listed } = await found(number, true);
      return { number, block, hash, listed: listed.filter(entry => typeof entry !== 'string') };
    } catch (error) {
      if (error instanceof ChainMoved) throw error;
      // The first failure is the more useful error when the node is away.
      return byHashes(number).catch((other: unknown) => {
        throw other instanceof ChainMoved ? other : error;
      });
    }
  };
}
