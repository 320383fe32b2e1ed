import { expect } from 'vitest';
import { QueriesBusy, type QueryEngine, QueryTooLarge } from '#indexer/query/query.ts';
import { type CountedClient, waitingClients } from '#lib/request-counters.ts';
import { bothDatabases, type TestDatabases } from '#test/support/databases.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { endless, groups, microtasks, never, poolTest, writeEndlessEvents } from './pool-fixture.ts';

bothDatabases('turns of clients', turnsSuite);

/** A client with the milliseconds charged to it. */
function clientOf(key: string): CountedClient & { readonly charged: readonly number[] } {
  const charged: number[] = [];
  return { key, charged, charge: ms => void charged.push(ms) };
}

function turnsSuite(databases: TestDatabases): void {
  const test = poolTest(databases)
    .extend('clock', () => manualClock())
    .extend('pool', async ({ openPool, clock }): Promise<QueryEngine> => {
      const { threads } = openPool({ clock, deadlineMs: 600_000 });
      return threads.engine(await writeEndlessEvents(await databases.create()));
    })
    /** Asks for an answer that never comes. Resolves with the reason of its end. */
    .extend('askEndless', ({ pool }, { onCleanup }) => {
      const aborts = new AbortController();
      const asked: Promise<unknown>[] = [];
      onCleanup(async () => {
        aborts.abort(new Error('the test is over'));
        await Promise.all(asked);
      });
      return (clients = waitingClients(undefined), signal = aborts.signal): Promise<unknown> => {
        const outcome = pool.groups(endless, signal, clients).catch((error: unknown) => error);
        asked.push(outcome);
        return outcome;
      };
    });

  test('a client runs one long query at a time, and another client’s starts at the same time', async ({
    pool,
    askEndless,
  }) => {
    const [heavy, other] = [clientOf('heavy'), clientOf('other')];

    const ended = Promise.race(Array.from({ length: 4 }, () => askEndless(waitingClients(heavy))));
    const answer = pool.groups(groups, never, waitingClients(other));

    expect(await Promise.race([answer, ended])).toMatchObject({ groups: [{}] });
  });

  test('clients take turns, however many queries one of them has', async ({ openPool }) => {
    const { pool } = openPool({ concurrency: 1 });
    const [heavy, other] = [clientOf('heavy'), clientOf('other')];
    const order: string[] = [];
    const ask = async (name: string, client: CountedClient) => {
      await pool.groups(groups, never, waitingClients(client));
      order.push(name);
    };

    await Promise.all([
      ask('heavy 1', heavy),
      ask('heavy 2', heavy),
      ask('heavy 3', heavy),
      ask('other 1', other),
      ask('other 2', other),
    ]);

    expect(order).toEqual(['heavy 1', 'other 1', 'heavy 2', 'other 2', 'heavy 3']);
  });

  test('long queries for four answers of a client wait, and a fifth is refused at once', async ({
    pool,
    askEndless,
  }) => {
    const [heavy, other] = [clientOf('heavy'), clientOf('other')];

    const asked = Array.from({ length: 5 }, () => askEndless(waitingClients(heavy)));
    const refused = await Promise.race([...asked, askEndless(waitingClients(heavy))]);

    expect(refused).toBeInstanceOf(QueriesBusy);
    await expect(pool.groups(groups, never, waitingClients(other))).resolves.toMatchObject({ groups: [{}] });
  });

  test('the chains of one answer wait as one', async ({ askEndless }) => {
    const heavy = clientOf('heavy');
    const [first, chains] = [askEndless(waitingClients(heavy)), waitingClients(heavy)];

    const asked = Array.from({ length: 10 }, () => askEndless(chains));
    await microtasks();

    expect(await Promise.race([first, ...asked, 'waiting'])).toBe('waiting');
  });

  test('a query that waits ten seconds for its client’s turn is refused as busy', async ({
    clock,
    askEndless,
  }) => {
    const heavy = clientOf('heavy');

    const running = askEndless(waitingClients(heavy));
    const waiting = askEndless(waitingClients(heavy));
    await microtasks();
    clock.advance(10_000);

    expect(await Promise.race([running, waiting])).toBeInstanceOf(QueriesBusy);
  });

  test('an aborted query leaves its place to the next one of the client', async ({ pool, askEndless }) => {
    const heavy = clientOf('heavy');
    const [aborts, reason] = [new AbortController(), new Error('gone')];

    const running = askEndless(waitingClients(heavy), aborts.signal);
    const waiting = askEndless(waitingClients(heavy), aborts.signal);
    const next = pool.groups(groups, never, waitingClients(heavy));
    await microtasks();
    aborts.abort(reason);

    expect(await Promise.all([running, waiting])).toEqual([reason, reason]);
    await expect(next).resolves.toMatchObject({ groups: [{}] });
  });

  test('an answer that another client waits for too is read in the turn of that client', async ({
    pool,
    askEndless,
  }) => {
    const [heavy, other] = [clientOf('heavy'), clientOf('other')];
    const shared = waitingClients(heavy);

    const running = askEndless(waitingClients(heavy));
    const answer = pool.groups(groups, never, shared);
    await microtasks();
    shared.join(other);

    expect(await Promise.race([answer, running])).toMatchObject({ groups: [{}] });
    expect([heavy.charged.length, other.charged.length]).toEqual([0, 1]);
  });

  test('a client that is not counted waits for no turn', async ({ pool, askEndless }) => {
    const running = askEndless();
    const answer = pool.groups(groups, never, waitingClients(undefined));

    expect(await Promise.race([answer, running])).toMatchObject({ groups: [{}] });
  });

  test('a closing pool answers no query that waits for its turn', async ({ openPool }) => {
    const { threads } = openPool({ deadlineMs: 600_000 });
    const pool = threads.engine(await writeEndlessEvents(await databases.create()));
    const heavy = clientOf('heavy');
    const [running, waiting] = [waitingClients(heavy), waitingClients(heavy)].map(clients =>
      pool.groups(endless, never, clients).catch((error: unknown) => error),
    );
    await microtasks();

    await threads.close();

    expect(await running).toBeInstanceOf(Error);
    expect(await waiting).toEqual(new Error('the query engine is closed'));
  });

  test('the time in a thread is charged when it ends, also that of a query that is refused', async ({
    openPool,
  }) => {
    const clock = manualClock();
    const { threads } = openPool({ clock, deadlineMs: 6_000 });
    const pool = threads.engine(await writeEndlessEvents(await databases.create()));
    const heavy = clientOf('heavy');

    const late = pool.groups(endless, never, waitingClients(heavy)).catch((error: unknown) => error);
    await microtasks();
    clock.advance(6_000);

    expect(await late).toEqual(new QueryTooLarge('deadline'));
    await expect.poll(() => heavy.charged).toEqual([6_000]);
  });
}
