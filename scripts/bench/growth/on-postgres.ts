import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import type { Figure } from '../figure.ts';
import { timedRequest } from '../timed-request.ts';
import { inTurns, type Rounds, timeRatio, wallMs } from '../turns.ts';
import { startCannedNode } from './canned-node.ts';
import { REQUESTS, spotOf } from './requests.ts';
import { type ServedIndex, serveIndex } from './serve-index.ts';
import { writeSyntheticIndex } from './synthetic-index.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 20_000;
const ROUNDS: Rounds = { warm: 6, rounds: 61, timed: wallMs };
const MAX_OVER_SQLITE = { atMost: 2.5 };

/**
 * Median time of every explorer operation over HTTP without caches, on an index of 20,000 blocks in PostgreSQL over one
 * in SQLite. Requests alternate between both.
 */
export async function overSqlite(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  try {
    await using postgres = await startOwnPostgres();
    await using node = await startCannedNode(CHAIN_ID);
    await using onSqlite = await servedIn({ file: join(folder, 'index.db') }, node.url);
    await using onPostgres = await servedIn({ kind: 'postgres', url: postgres.url }, node.url);
    const figures: Figure[] = [];
    for (const [operation, pathAt] of Object.entries(REQUESTS)) {
      const from = (index: ServedIndex) => (round: number) =>
        timedRequest(`${index.url}/explorer${pathAt(spotOf(round, BLOCKS))}`);
      const times = await inTurns(ROUNDS, [from(onSqlite), from(onPostgres)]);
      figures.push(timeRatio(`${operation}, p50 on PostgreSQL over SQLite`, times, MAX_OVER_SQLITE));
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function servedIn(database: DatabaseOptions, nodeUrl: string): Promise<ServedIndex> {
  await writeSyntheticIndex({ database, chainId: CHAIN_ID, blocks: BLOCKS });
  if (database.kind === 'postgres') await settle(indexOptions(database, CHAIN_ID));
  return serveIndex({ database, chainId: CHAIN_ID, nodeUrl, blocks: BLOCKS });
}

/** Runs the maintenance that the server does by itself some minutes after rows were written. */
async function settle(database: DatabaseOptions): Promise<void> {
  const db = openDatabase(database);
  await db.raw('vacuum analyze').finally(() => db.destroy());
}
