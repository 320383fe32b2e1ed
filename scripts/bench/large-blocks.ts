import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { type Figure, figureOf, mebibytes, median } from './figure.ts';
import { toldBy } from './forked.ts';
import { CHAIN_ID, largeChain } from './large-blocks/large-block.ts';
import { startServer } from './server-process.ts';
import type { SyncBench } from './sync.ts';
import { dropIndex } from './sync-rate.ts';

const ROUNDS = 3;
const BLOCKS = 100;
const LEAST_OVER_FETCHING = 0.1;
const MAX_BYTES = 2 ** 30;

interface Synced extends SyncBench {
  readonly mostBytes: number;
}

/**
 * Rate and memory of indexing a chain with blocks as large as mainnet's into both databases. The node, which makes its
 * answers as they are asked for, and the indexer are processes of their own.
 */
export async function benchLargeBlocks(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  try {
    await using postgres = await startOwnPostgres();
    await using node = await startServer('large-chain', String(BLOCKS));
    const file = async () => join(folder, `index-${randomUUID()}.sqlite`);
    const server = async () => {
      await dropIndex(postgres.url, CHAIN_ID);
      return postgres.url;
    };
    return [
      ...(await syncedInto('SQLite', node.url, file)),
      ...(await syncedInto('PostgreSQL', node.url, server)),
    ];
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function syncedInto(
  database: string,
  nodeUrl: string,
  emptyDatabase: () => Promise<string>,
): Promise<Figure[]> {
  const rounds: Synced[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const args = [nodeUrl, String(BLOCKS), await emptyDatabase()];
    rounds.push(
      await toldBy(new URL('./large-blocks/sync-process.ts', import.meta.url), args, { isMessage: isSynced }),
    );
  }
  const [large] = largeChain(1);
  if (large === undefined) throw new Error('no block');
  const { block, receipts } = large;
  const logs = receipts.reduce((sum, receipt) => sum + receipt.logs.length, 0);
  const kibibytes = Math.round(JSON.stringify(block).length / 1024);
  const of = `blocks of ${kibibytes} KiB, ${receipts.length} transactions and ${logs} logs into ${database}`;
  const rate = median(rounds.map(({ syncBlocksPerSecond }) => syncBlocksPerSecond));
  const fetched = median(rounds.map(({ fetchOnlyBlocksPerSecond }) => fetchOnlyBlocksPerSecond));
  return [
    figureOf({
      name: `sync rate of ${of}, over only fetching them`,
      rounds: rounds.map(round => round.syncBlocksPerSecond / round.fetchOnlyBlocksPerSecond),
      wanted: { atLeast: LEAST_OVER_FETCHING },
      note: `${rate.toFixed(1)} of ${fetched.toFixed(1)} blocks/s`,
    }),
    figureOf({
      name: `memory of a process that syncs ${of}, over 1 GiB`,
      rounds: rounds.map(({ mostBytes }) => mostBytes / MAX_BYTES),
      wanted: { atMost: 1 },
      note: mebibytes(median(rounds.map(({ mostBytes }) => mostBytes))),
    }),
  ];
}

function isSynced(message: unknown): message is Synced {
  return typeof message === 'object' && message !== null && 'syncBlocksPerSecond' in message;
}
