import { numberToHex } from 'viem';
import type { BlockContents } from '#evm/proofs/block-proof.ts';
import type { RpcReceipt } from '#evm/rpc.ts';
import { blockContents } from '#node/block-contents.ts';
import { clientOf } from '../indexer/support.ts';
import { test } from '../support/served-devnet.ts';

export interface Contents extends BlockContents {
  readonly receipts: readonly RpcReceipt[];
}

/** `test` with the contents of all blocks of an embedded chain, from its first block on. */
export const blocksTest = test.extend(
  'blocks',
  { scope: 'worker' },
  async ({ chain }): Promise<Contents[]> => {
    const { request } = clientOf(chain.rpcUrl, chain.id);
    const blocks: Contents[] = [];
    for (let number = 0; ; number += 1) {
      const header = await request({
        method: 'eth_getBlockByNumber',
        params: [numberToHex(number), false],
      });
      if (header === null || header.hash === null) return blocks;
      const contents = await blockContents(request, { number, hash: header.hash });
      blocks.push({ ...contents, receipts: contents.receipts.filter(receipt => receipt !== null) });
    }
  },
);
