import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import { startDevnet } from '../../src/devnet/start-devnet.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type Figure, figureOf, median } from './figure.ts';
import { benchSync } from './sync.ts';

const ROUNDS = 3;
const BLOCKS = 300;
const LEAST_OVER_FETCHING = 0.4;
const EMBEDDED_CHAIN = 31_337;

/** Rate of indexing an embedded chain into a file, over that of only fetching the same blocks. */
export function benchSyncRate(): Promise<Figure[]> {
  return syncRate('sync rate', async folder => ({ file: join(folder, `index-${randomUUID()}.sqlite`) }));
}

/** Rate of indexing into a PostgreSQL database, over that of only fetching the same blocks. */
export async function benchPostgresSyncRate(): Promise<Figure[]> {
  await using postgres = await startOwnPostgres();
  const database = { kind: 'postgres', url: postgres.url } as const;
  return await syncRate('sync rate of an index on PostgreSQL', async () => {
    await dropIndex(postgres.url, EMBEDDED_CHAIN);
    return database;
  });
}

/** Removes the index of a chain from a PostgreSQL database. */
export async function dropIndex(url: string, chainId: number): Promise<void> {
  const db = openDatabase({ kind: 'postgres', url });
  await db.raw(`drop schema if exists chain_${chainId} cascade`).finally(() => db.destroy());
}

async function syncRate(
  name: string,
  emptyDatabase: (folder: string) => Promise<DatabaseOptions>,
): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const log = createLogger({ level: 'warn' });
  const devnet = await startDevnet({
    folder,
    isFolderDisposable: true,
    chains: 1,
    blocks: BLOCKS,
    trickleMs: 0,
    seed: 1,
    clock: systemClock,
    log,
  });
  try {
    await devnet.filled;
    const [chain] = devnet.chains;
    if (chain === undefined) throw new Error('no embedded chain');
    const ratios: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { fetchOnlyBlocksPerSecond, syncBlocksPerSecond } = await benchSync({
        rpcUrl: chain.rpcUrl,
        blocks: BLOCKS,
        database: await emptyDatabase(folder),
      });
      ratios.push(syncBlocksPerSecond / fetchOnlyBlocksPerSecond);
      rates.push(syncBlocksPerSecond);
    }
    return [
      figureOf({
        name: `${name} over only fetching the same blocks`,
        rounds: ratios,
        wanted: { atLeast: LEAST_OVER_FETCHING },
        note: `${Math.round(median(rates))} blocks/s`,
      }),
    ];
  } finally {
    await devnet.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
