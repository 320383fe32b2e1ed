import type { BlockRows } from '../decode/block.ts';

/** As many rows are written in about 20 ms, for which nothing else is done. */
const ROWS = 1_000;

/** Blocks that are written in one transaction, which costs as much as many rows: several small ones or one large one. */
export function* inCommits(blocks: Iterable<BlockRows>): Generator<BlockRows[]> {
  let together: BlockRows[] = [];
  let rows = 0;
  for (const block of blocks) {
    const more = rowsOf(block);
    if (together.length > 0 && rows + more > ROWS) {
      yield together;
      together = [];
      rows = 0;
    }
    together.push(block);
    rows += more;
  }
  if (together.length > 0) yield together;
}

function rowsOf(block: BlockRows): number {
  const { transactions, logs, tokenTransfers, internalTransactions, withdrawals, contracts, dirty } = block;
  const lists = [transactions, logs, tokenTransfers, internalTransactions, withdrawals, contracts, dirty];
  return lists.reduce((sum, list) => sum + list.length, 0);
}
