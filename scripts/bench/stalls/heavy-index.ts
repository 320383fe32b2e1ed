import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi, type Hex, numberToHex } from 'viem';
import { openDatabase } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { RpcLog } from '#evm/rpc.ts';
import { blockRows } from '#indexer/decode/block.ts';
import type { BlockWithReceiverCode } from '#indexer/fetch/fetched-block.ts';
import { writeBlocks } from '#indexer/sync/block-writer.ts';
import { hashOf, NFT, syntheticBlock } from '../growth/synthetic-block.ts';
import { writeSyntheticIndex } from '../growth/synthetic-index.ts';

const CHAIN_ID = 31_337;
const LIGHT_BLOCKS = 20;
const TRANSACTIONS = 2_000;
const LOGS = 1_000;
const KILOBYTE: Hex = `0x${'5a'.repeat(1_000)}`;
const MEGABYTE = 'a5'.repeat(1_000_000);

/** Large records of the index. */
export const HEAVY = {
  blocks: LIGHT_BLOCKS + 1,
  block: LIGHT_BLOCKS,
  longCall: hashOf('7b', 0),
  manyLogs: hashOf('7b', 1),
  contract: NFT,
  event:
    'Said(address indexed who,(uint256 amount,bytes32[] parts,(string name,bool flag)[] more) what,bytes text)',
};

/** Writes an index of a few light blocks and one of 2,000 transactions. Disposal removes its folder. */
export async function writeHeavyIndex(): Promise<{ readonly file: string } & AsyncDisposable> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const file = join(folder, 'heavy.db');
  await writeSyntheticIndex({ database: { file }, chainId: CHAIN_ID, blocks: LIGHT_BLOCKS });
  const db = openDatabase({ file });
  try {
    await transaction(db, handle => writeBlocks(handle, [blockRows(heavyBlock())]));
  } finally {
    await db.destroy();
  }
  return { file, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

/** Next block, with 2,000 transactions of 1 kB. The first has 1 MB of call data, the second 1,000 logs. */
function heavyBlock(): BlockWithReceiverCode {
  const light = syntheticBlock(LIGHT_BLOCKS);
  const [model] = light.transactions;
  const receipt = model?.receipt ?? null;
  if (model === undefined || receipt === null) throw new Error('a synthetic block is empty');
  const [log] = receipt.logs;
  if (log === undefined) throw new Error('a synthetic transaction has no log');
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [NFT, 5n] });
  const logs = Array.from(
    { length: LOGS },
    (_, place): RpcLog => ({
      ...log,
      address: NFT,
      topics: [hashOf('70', place % 3)],
      data: KILOBYTE,
      logIndex: numberToHex(place),
    }),
  );
  return {
    ...light,
    transactions: Array.from({ length: TRANSACTIONS }, (_, place) => {
      const hash = hashOf('7b', place);
      const input: Hex = place === 0 ? `${transfer}${MEGABYTE}` : `${transfer}${KILOBYTE.slice(2)}`;
      return {
        transaction: { ...model.transaction, hash, input },
        receipt: { ...receipt, transactionHash: hash, logs: place === 1 ? logs : [] },
      };
    }),
    traces: null,
  };
}
