import fc from 'fast-check';
import { type Hash, type Hex, numberToHex, pad } from 'viem';
import { openMigrated } from '#db/migrate.ts';
import type { DatabaseOptions } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { RpcLog, RpcReceipt, RpcTransaction } from '#evm/rpc.ts';
import { blockRows } from '#indexer/decode/block.ts';
import type { FetchedBlock } from '#indexer/fetch/fetched-block.ts';
import { claimForChain } from '#indexer/schema/head.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { writeBlocks } from '#indexer/sync/block-writer.ts';

/** A few values, so that they coincide. */
export const ADDRESSES = ['a1', 'b2', 'c3', 'd4'].map((byte): Hex => `0x${byte.repeat(20)}`);
export const TOPICS = ['e5', 'f6', '07'].map((byte): Hex => `0x${byte.repeat(32)}`);

/** Values at which numbers lose digits, change their length or end. */
export const AMOUNTS = [
  0n,
  1n,
  9n,
  10n,
  99n,
  100n,
  2n ** 53n,
  2n ** 53n + 1n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n,
  10n ** 20n,
  10n ** 20n + 1n,
  2n ** 255n,
  2n ** 256n - 1n,
];

const BLOOMS: Hex[] = [`0x${'00'.repeat(256)}`, `0x${'00'.repeat(255)}01`, `0x80${'00'.repeat(255)}`];
const address = fc.constantFrom(...ADDRESSES);
const topic = fc.constantFrom(...TOPICS);
const bloom = fc.constantFrom(...BLOOMS);
const quantity = (...values: bigint[]) => fc.constantFrom(...values.map(value => numberToHex(value)));
const amount = quantity(...AMOUNTS);
const small = quantity(0n, 1n, 9n, 10n, 21_000n);
const data = fc.constantFrom<Hex>(
  '0x',
  '0x01',
  '0xa9059cbb',
  '0xa9059cbb00ff',
  `0x40c10f19${'ab'.repeat(40)}`,
);
const word = fc.constantFrom(...TOPICS, pad('0x00'), pad('0x01'));
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2 });

const transactionParts = fc.record({
  from: address,
  to: orNull(address),
  value: amount,
  nonce: small,
  gas: small,
  input: data,
  type: quantity(0n, 1n, 2n, 3n, 126n),
  gasPrice: amount,
  maxFeePerGas: orNull(amount),
  maxPriorityFeePerGas: orNull(amount),
  r: amount,
  s: amount,
  v: quantity(0n, 1n, 27n, 62_709n),
  accessList: orNull(fc.array(fc.record({ address, storageKeys: fc.constant([]) }), { maxLength: 1 })),
});
const receiptParts = fc.record({
  gasUsed: small,
  cumulativeGasUsed: orNull(small),
  logsBloom: orNull(bloom),
  effectiveGasPrice: quantity(0n, 9n, 10n, 2n ** 64n),
  blobGasUsed: orNull(quantity(131_072n)),
  blobGasPrice: quantity(1n, 2n ** 64n),
  status: orNull(quantity(0n, 1n)),
});
const logParts = fc.record({ address, topics: fc.array(topic, { maxLength: 4 }), data });
const blockParts = fc.record({
  seconds: fc.constantFrom(0, 0, 1, 12, 900),
  miner: address,
  gasLimit: amount,
  gasUsed: small,
  baseFeePerGas: orNull(amount),
  difficulty: amount,
  totalDifficulty: orNull(amount),
  nonce: orNull(fc.constantFrom<Hex>('0x0000000000000000', '0x0000000000000001')),
  extraData: data,
  stateRoot: word,
  sha3Uncles: word,
  mixHash: orNull(word),
  transactionsRoot: word,
  receiptsRoot: word,
  withdrawalsRoot: orNull(word),
  logsBloom: bloom,
  size: orNull(small),
  transactions: fc.array(
    fc.record({
      transaction: transactionParts,
      // A receipt that the node did not give is null.
      receipt: fc.option(receiptParts, { freq: 7 }),
      logs: fc.array(logParts, { maxLength: 3 }),
    }),
    { maxLength: 4 },
  ),
});

/** A made-up chain in the form of a node's data. */
export function randomBlocks({ seed, count }: { seed: number; count: number }): FetchedBlock[] {
  let seconds = 1_700_000_000;
  return fc.sample(blockParts, { seed, numRuns: count }).map((parts, number) => {
    seconds += parts.seconds;
    const { seconds: _, transactions, ...header } = parts;
    const hash = hashOf(number, 0xff);
    let logIndex = 0;
    return {
      number,
      hash,
      block: {
        ...header,
        number: numberToHex(number),
        hash,
        parentHash: hashOf(number - 1, 0xff),
        timestamp: numberToHex(seconds),
        uncles: [],
        transactions: [],
      },
      transactions: transactions.map(({ transaction, receipt, logs }, position) => {
        const id = hashOf(number, position);
        const numbered = logs.map((log): RpcLog => ({ ...log, logIndex: numberToHex(logIndex++) }));
        return {
          transaction: { ...transaction, hash: id } satisfies RpcTransaction,
          receipt:
            receipt &&
            ({
              ...receipt,
              transactionHash: id,
              blockHash: hash,
              contractAddress: transaction.to === null ? transaction.from : null,
              logs: numbered,
            } satisfies RpcReceipt),
        };
      }),
      traces: null,
      touched: [],
      unreadable: null,
      isProven: false,
    };
  });
}

/** Not in block order. */
function hashOf(number: number, position: number): Hash {
  const mixed = BigInt.asUintN(64, BigInt(number * 256 + position + 1) * 0x9e3779b97f4a7c15n);
  return pad(numberToHex(mixed), { dir: 'right', size: 32 });
}

/** Writes the blocks to an index of their own, as syncing would. Returns the options to open it with. */
export async function writeIndex(
  database: DatabaseOptions,
  { chainId, blocks }: { chainId: number; blocks: readonly FetchedBlock[] },
): Promise<DatabaseOptions> {
  const options = indexOptions(database, chainId);
  const db = await openMigrated(options, indexSchema(chainId, options));
  try {
    await transaction(db, async handle => {
      await claimForChain(handle, chainId);
      const judged = blocks.map(block => ({
        ...block,
        receiversWithCode: new Set<Hex>(),
        receiversUnknown: new Set<Hex>(),
      }));
      await writeBlocks(handle, judged.map(blockRows));
    });
  } finally {
    await db.destroy();
  }
  return options;
}
