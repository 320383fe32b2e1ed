import { proveBlock } from '#evm/proofs/prove-block.ts';
import { type Figure, figureOf } from './figure.ts';
import { largeChain } from './large-blocks/large-block.ts';

const ROUNDS = 5;
const WARM_ROUNDS = 2;
const BLOCKS_A_ROUND = 40;
const MAX_MS = 15;

/** CPU time of one core for recomputing blocks as large as mainnet's, per 1,000 logs. */
export async function benchProofs(): Promise<Figure[]> {
  const [large] = largeChain(1);
  if (large === undefined) throw new Error('no block');
  const { block, receipts } = large;
  const logs = receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
  const rounds: number[] = [];
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++) {
    // Some kernels count CPU time in steps of 4 ms, so only sums are meaningful.
    const before = process.threadCpuUsage();
    for (let times = 0; times < BLOCKS_A_ROUND; times++) {
      const { kind } = await proveBlock({ block, transactions: block.transactions, receipts });
      if (kind !== 'proven') throw new Error(`the block is ${kind}`);
    }
    const { user, system } = process.threadCpuUsage(before);
    if (round >= 0) rounds.push((user + system) / BLOCKS_A_ROUND / logs);
  }
  return [
    figureOf({
      name: `milliseconds of one core that recompute 1,000 logs, in blocks of ${receipts.length} transactions and ${logs} logs`,
      rounds,
      wanted: { atMost: MAX_MS },
    }),
  ];
}
