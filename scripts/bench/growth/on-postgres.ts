import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { startOwnPostgres } from '#test/support/own-postgres.ts';
import { type Figure, median } from '../figure.ts';
import { startCannedNode } from './canned-node.ts';
import { REQUESTS, type Spot, spotOf } from './requests.ts';
import { type ServedIndex, serveIndex } from './serve-index.ts';
import { writeSyntheticIndex } from './synthetic-index.ts';
import { timedRequest } from './timed-request.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 20_000;
const WARM_ROUNDS = 6;
const ROUNDS = 61;
const TARGET = 2.5;

/**
 * Median time of every explorer operation over HTTP, nothing cached, from an index of 20,000 blocks in PostgreSQL over one
 * in SQLite. Requests go to both in turn, each first in every other round.
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
      figures.push(await figureOf(operation, pathAt, { onSqlite, onPostgres }));
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

/** What the server does by itself some minutes after rows were written. */
async function settle(database: DatabaseOptions): Promise<void> {
  const db = openDatabase(database);
  await db.raw('vacuum analyze').finally(() => db.destroy());
}

async function figureOf(
  operation: string,
  pathAt: (spot: Spot) => string,
  { onSqlite, onPostgres }: Record<'onSqlite' | 'onPostgres', ServedIndex>,
): Promise<Figure> {
  const name = `${operation}, p50 on PostgreSQL over SQLite`;
  const times = { sqlite: [] as number[], postgres: [] as number[] };
  for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
    const path = pathAt(spotOf(round, BLOCKS));
    const answers = { sqlite: { status: 0, ms: 0 }, postgres: { status: 0, ms: 0 } };
    const turns = [
      async () => (answers.sqlite = await timedRequest(onSqlite, path)),
      async () => (answers.postgres = await timedRequest(onPostgres, path)),
    ];
    for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
    const refused = Object.values(answers).find(({ status }) => status !== 200);
    if (refused !== undefined)
      return {
        name,
        value: Number.NaN,
        target: `≤ ${TARGET}`,
        ok: false,
        note: `answered ${refused.status}`,
      };
    if (round < WARM_ROUNDS) continue;
    times.sqlite.push(answers.sqlite.ms);
    times.postgres.push(answers.postgres.ms);
  }
  const ratio = median(times.postgres) / median(times.sqlite);
  return {
    name,
    value: ratio,
    target: `≤ ${TARGET}`,
    ok: ratio <= TARGET,
    note: `${median(times.sqlite).toFixed(2)} ms → ${median(times.postgres).toFixed(2)} ms`,
  };
}
