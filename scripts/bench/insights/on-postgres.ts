import pg from 'pg';
import type { DatabaseOptions } from '#db/open.ts';
import { openEngine } from '#indexer/query/threads/open-engine.ts';
import { startOwnPostgres } from '#test/lab/own-postgres.ts';
import type { Figure } from '../figure.ts';
import { inTurns, type PairedTimes, QUICK, type Rounds, timeRatio, wallMs } from '../turns.ts';
import { type BulkIndex, bulkIndex, CHAIN_ID } from './bulk-index.ts';
import { type Case, countOver, outcomeOf, PAGES, sumBySender } from './cases.ts';
import { besideHeavyClient } from './heavy-client.ts';
import { BY_HAND } from './postgres-hand.ts';
import { postgresIndex } from './postgres-index.ts';

const LONG: Rounds = { warm: 1, rounds: 7, timed: wallMs };
const MAX_OVER_HAND = 1.3;
const REPEATS = 3;

/**
 * Median time of the engine over that of the same hand-written SQL, at 1,000,000 transactions on one PostgreSQL server.
 * Both alternate on two connections. Measured three times, each with a new engine.
 */
export async function overPostgresHand(): Promise<Figure[]> {
  const index = await bulkIndex(1_000_000);
  await using postgres = await startOwnPostgres();
  console.error('copying it to PostgreSQL …');
  const database = await postgresIndex(index, { kind: 'postgres', url: postgres.url });
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(`set search_path = chain_${CHAIN_ID}; set jit = off`);
  try {
    const tenth = countOver('count over a tenth of the rows, 100,000', ({ blocks }) => blocks / 10);
    const figures: Figure[] = [];
    for (const one of [...PAGES, tenth])
      figures.push(await overHand(one, { index, database, client, rounds: QUICK }));
    for (const one of [sumBySender('gas_used'), sumBySender('value')])
      figures.push(await overHand(one, { index, database, client, rounds: LONG }));
    figures.push(...(await besideHeavyClient(index, { database: postgres.url, on: 'PostgreSQL' })));
    return figures;
  } finally {
    await client.end();
  }
}

async function overHand(one: Case, comparison: Comparison): Promise<Figure> {
  const repeats: PairedTimes[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) repeats.push(await compared(one, comparison));
  const times = { base: repeats.flatMap(({ base }) => base), other: repeats.flatMap(({ other }) => other) };
  return timeRatio(`${one.name}, engine over SQL by hand on PostgreSQL`, times, { atMost: MAX_OVER_HAND });
}

interface Comparison {
  readonly index: BulkIndex;
  readonly database: DatabaseOptions;
  readonly client: pg.Client;
  readonly rounds: Rounds;
}

/** Times of a new engine and of the hand-written SQL. */
async function compared(one: Case, { index, database, client, rounds }: Comparison): Promise<PairedTimes> {
  const statementsOf = BY_HAND[one.name];
  if (statementsOf === undefined) throw new Error(`${one.name} is not written by hand`);
  const byHand = async (round: number) => {
    const answers: unknown[][][] = [];
    for (const { text, values } of statementsOf(round, index))
      answers.push((await client.query({ text, values: [...values], rowMode: 'array' })).rows);
    return outcome(answers);
  };
  const engine = await openEngine(database, { isCancelled: () => false, deadlineMs: 60_000 });
  try {
    for (const round of [0, 1, 2]) {
      const [ours, theirs] = [outcomeOf(await engine.run(one.query(round, index))), await byHand(round)];
      // Groups have no order.
      if (ours.size !== theirs.size || (theirs.first !== undefined && ours.first !== theirs.first))
        throw new Error(`${one.name}: ${JSON.stringify(ours)} by hand is ${JSON.stringify(theirs)}`);
    }
    return await inTurns(rounds, [byHand, round => engine.run(one.query(round, index))]);
  } finally {
    await engine.close();
  }
}

/** Outcome of hand-written statements, in the form of `outcomeOf`, but without the first of several groups. */
function outcome([rows = [], count]: unknown[][][]): { size: number; first: string | undefined } {
  const [first] = rows;
  if (count !== undefined) return { size: rows.length, first: `${first?.[0]} of ${count[0]?.[0]}` };
  return { size: rows.length, first: rows.length === 1 ? String(first) : undefined };
}
