import { expect, onTestFinished, test } from 'vitest';
import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES } from '#indexer/schema/tables.ts';
import { systemClock } from '#lib/clock.ts';
import { CHAIN_ID, log, servedTestChain, startTestChain } from '../../indexer/support.ts';
import { indexIn, servedChain, startTestDataService } from '../../lab/data-service.ts';
import { client } from '../../support/contract-client.ts';
import { eachDatabase, type TestDatabases } from '../../support/databases.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const REQUESTS_PER_MINUTE = 10_000;
const REQUESTS_PER_SECOND = 20;
/** Deadline of a query. */
const DEADLINE_S = 10;
const HEAVY = '203.0.113.5';
const OTHER = '203.0.113.6';

eachDatabase('fair shares of queries', sharesSuite);

/** Makes the transactions of an index so many that no query over all of them ends by itself. */
async function writeEndlessTransactions(database: DatabaseOptions): Promise<void> {
  const db = openDatabase(indexOptions(database, CHAIN_ID));
  const columns = Object.keys(TABLES.transactions.columns).map(name =>
    name === 'id' ? 'x as id' : `t.${name}`,
  );
  await db.raw('alter table transactions rename to few_transactions');
  await db.raw(
    `create view transactions as
       with recursive n(x) as (select cast(1 as bigint) union all select x + 1 from n where x < 1e10)
       select ${columns.join(', ')} from n cross join few_transactions t`,
  );
  await db.destroy();
}

/** A manual clock, by which only long waits last. Shorter ones are pauses of the index, which has to go on. */
function clockOfLongWaits(): ManualClock {
  const clock = manualClock();
  return { ...clock, sleep: (ms, signal) => (ms < 1_000 ? systemClock : clock).sleep(ms, signal) };
}

/** A service whose transactions are endless, and a function that sends a request of an address to it. */
async function servedEndless(databases: TestDatabases) {
  const clock = clockOfLongWaits();
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
  await chain.mine();
  const database = await databases.create();
  const service = await startTestDataService([], {
    chains: [{ ...servedChain(servedTestChain(chain.rpcUrl), ''), backends: [indexIn(database)] }],
    rateLimitPerMinute: REQUESTS_PER_MINUTE,
    requestsPerQuerySecond: REQUESTS_PER_SECOND,
    trustedProxies: ['127.0.0.1'],
    clock,
    log,
  });
  onTestFinished(() => service.close());
  await writeEndlessTransactions(database);
  const api = client(service.url);
  return {
    get: (address: string, path: string) => api.get(`/insights/v1${path}`, { 'x-forwarded-for': address }),
    /** Lets time pass until an answer arrives. */
    async passTimeUntil<Answer>(pending: Promise<Answer>): Promise<Answer> {
      const arrived = new AbortController();
      const answer = pending.finally(() => arrived.abort());
      const hasArrived = () => {
        clock.advance(1_000);
        return arrived.signal.aborted;
      };
      await expect.poll(hasArrived).toBe(true);
      return answer;
    },
  };
}

/** Path of one of many answers that never come. */
const endless = (number: number) => `/transactions?aggregate=count()&filter_value_gte=${number}`;

function sharesSuite(databases: TestDatabases): void {
  test('a client with four endless queries in flight keeps no other client from its own', async () => {
    const { get, passTimeUntil } = await servedEndless(databases);

    const heavy = Promise.all([0, 1, 2, 3].map(number => get(HEAVY, endless(number))));
    const first = await Promise.race([heavy, get(OTHER, '/blocks?aggregate=count()')]);
    const refusals = await passTimeUntil(heavy);

    expect(first).toMatchObject({ status: 200, body: { aggregations: [{}] } });
    expect(refusals.map(({ status }) => status)).toContain(400);
  });

  test('a query that ends in a 400 counts its seconds as requests of its client, and of no other', async () => {
    const { get, passTimeUntil } = await servedEndless(databases);
    let sent = 1;

    const { status, body } = await passTimeUntil(get(HEAVY, endless(0)));

    expect([status, body]).toEqual([400, { error: expect.stringContaining('longer than 10 seconds') }]);
    await expect
      .poll(async () => {
        const { headers } = await get(HEAVY, '/blocks?limit=1');
        sent += 1;
        return REQUESTS_PER_MINUTE - Number(headers.get('ratelimit-remaining')) - sent;
      })
      .toBeGreaterThanOrEqual(DEADLINE_S * REQUESTS_PER_SECOND);
    const other = await get(OTHER, '/blocks?limit=1');
    expect(other.headers.get('ratelimit-remaining')).toBe(String(REQUESTS_PER_MINUTE - 1));
  });
}
