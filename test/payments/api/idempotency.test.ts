import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rowsOf } from '#db/query.ts';
import { eventually } from '../../http/serve.ts';
import { until } from '../../lab/until.ts';
import { bothDatabases, postgresDatabase, type TestDatabase } from '../../support/databases.ts';
import { type Answered, type GatedKeys, type Sent, startGatedKeys } from '../../support/gated-keys.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';

const KEYS = '/api/v1/api-keys';
const BODY = { name: 'Shop', permission: 'write' };
const LIMITS = { standard: 1e6, elevated: 1e6 };
const DAY_MS = 24 * 60 * 60 * 1000;
const conflict = (message: RegExp) => ({
  error: {
    type: 'idempotency_error',
    code: 'idempotency_conflict',
    message: expect.stringMatching(message),
    param: 'Idempotency-Key',
  },
});
const statusAndBody = ({ status, body }: Answered) => [status, body];

bothDatabases('a request with an idempotency key', databases => {
  let service: GatedKeys;
  let clock: ManualClock;
  let key: string;
  let organizationId: string;
  /** Delays the commit of a request that creates a key. */
  let gate: Promise<void>;
  let entered: number;

  beforeAll(async () => {
    clock = manualClock();
    service = await startGatedKeys({
      database: await databases.create('payments'),
      clock,
      limits: LIMITS,
      beforeCreation: () => {
        entered += 1;
        return gate;
      },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());
  beforeEach(async () => {
    gate = Promise.resolve();
    entered = 0;
    organizationId = await service.organization();
    key = (await service.key({ organizationId })).secret;
  });

  const create = (idempotencyKey: string, sent: Sent = {}, path = KEYS) =>
    service.send('POST', path, { key, body: BODY, headers: { 'Idempotency-Key': idempotencyKey }, ...sent });
  const keysOf = async (id = organizationId) =>
    rowsOf(service.db, 'select id from api_keys where organization_id = ?', [id]);

  describe('is answered as before', () => {
    test('with the same secret, and has no second effect', async () => {
      const first = await create('a');
      const again = await create('a');

      expect(first.status).toBe(201);
      expect(first.text).toMatch(/"key":"tg_live_/);
      expect([again.status, again.text]).toEqual([201, first.text]);
      expect([first, again].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([null, 'true']);
      expect(again.headers.get('cache-control')).toBe('no-store');
      expect(again.headers.get('x-ratelimit-limit')).toBe('1000000');
      expect(await keysOf()).toHaveLength(2);
    });

    test('also for another API key of the same organization and mode, but not of another mode or organization', async () => {
      const colleague = (await service.key({ organizationId })).secret;
      const test = (await service.key({ organizationId, mode: 'test' })).secret;
      const stranger = (await service.key({ organizationId: await service.organization() })).secret;
      const first = await create('a');

      expect((await create('a', { key: colleague })).text).toBe(first.text);
      for (const other of [test, stranger]) {
        const answer = await create('a', { key: other });
        expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null]);
      }
    });

    test('when 50 are sent at once: one takes effect, and all get its answer', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, () => create('a')));

      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      expect(answers.filter(({ headers }) => headers.has('idempotent-replayed'))).toHaveLength(49);
      expect(await keysOf()).toHaveLength(2);
    });

    test('for a day, and is then a new request', async () => {
      const first = await create('a');
      clock.advance(DAY_MS - 1);
      const lastRepeat = await create('a');
      clock.advance(1);
      const next = await create('a');
      const nextRepeat = await create('a');

      expect(lastRepeat.text).toBe(first.text);
      expect([next.status, next.headers.get('idempotent-replayed')]).toEqual([201, null]);
      expect(next.text).not.toBe(first.text);
      expect(nextRepeat.text).toBe(next.text);
    });

    test('even after the record it changed was removed', async () => {
      const victim = await service.key({ organizationId });
      const roll = () => create('a', { body: {} }, `${KEYS}/${victim.key.id}/roll`);
      const first = await roll();
      const unnamed = await service.send('POST', `${KEYS}/${victim.key.id}/roll`, { key, body: {} });
      const again = await roll();

      expect(first.status).toBe(201);
      expect(unnamed.status).toBe(400);
      expect([again.status, again.text]).toEqual([201, first.text]);
    });
  });

  describe('is a conflict', () => {
    test('with another body, path or query', async () => {
      const victim = await service.key({ organizationId });
      await create('a');

      for (const answer of [
        await create('a', { body: { ...BODY, name: 'Other' } }),
        await create('a', {}, `${KEYS}?x=1`),
        await create('a', { body: {} }, `${KEYS}/${victim.key.id}/roll`),
      ]) {
        expect(statusAndBody(answer)).toEqual([409, conflict(/used with another request/)]);
      }
      expect(await keysOf()).toHaveLength(3);
    });

    test('after 10 seconds of waiting for an unfinished request with the same key', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      const first = create('a');
      await eventually(() => (entered === 1 ? true : undefined));
      const twin = create('a');
      const other = create('a', { body: { ...BODY, name: 'Other' } });
      await eventually(() => (clock.sleepers() === 2 ? true : undefined));

      clock.advance(9_999);
      expect(clock.sleepers()).toBe(2);
      clock.advance(1);
      for (const late of [await twin, await other]) {
        expect(statusAndBody(late)).toEqual([409, conflict(/still in progress/)]);
      }
      resolve();
      expect((await first).status).toBe(201);
      expect((await create('a')).text).toBe((await first).text);
      expect(clock.sleepers()).toBe(0);
    });
  });

  describe('leaves its key unused', () => {
    test('when it is refused, even while an equal request waits', async () => {
      const { promise, reject } = Promise.withResolvers<void>();
      gate = promise;
      const first = create('a');
      await eventually(() => (entered === 1 ? true : undefined));
      gate = Promise.resolve();
      const waiting = create('a');
      await eventually(() => (clock.sleepers() === 1 ? true : undefined));

      reject(new Error('the handler failed'));

      expect((await first).status).toBe(500);
      expect([(await waiting).status, (await waiting).headers.get('idempotent-replayed')]).toEqual([
        201,
        null,
      ]);
      expect(await keysOf()).toHaveLength(2);
    });

    test('when a field is wrong, a record missing or the permission too low', async () => {
      const reader = (await service.key({ organizationId, permission: 'read' })).secret;

      expect((await create('a', { body: { name: '' } })).status).toBe(400);
      expect((await create('a', { body: {} }, `${KEYS}/ak_missing/roll`)).status).toBe(404);
      expect((await create('a', { key: reader })).status).toBe(403);

      expect((await create('a')).status).toBe(201);
    });
  });

  test('is not stored in plain text', async () => {
    const answer = await create('a');

    const kept = JSON.stringify(await rowsOf(service.db, 'select * from idempotency_keys'));
    const secret = /"key":"(\w+)"/.exec(answer.text)?.[1] ?? '';
    expect(secret).toMatch(/^tg_live_/);
    expect(kept).toContain('"key":"a"');
    expect(kept).not.toContain(secret);
    expect(kept).not.toContain('Shop');
  });

  test('is a new request each time for DELETE, which ignores the key', async () => {
    const victims = [await service.key({ organizationId }), await service.key({ organizationId })];

    for (const { key: victim } of victims) {
      const path = `${KEYS}/${victim.id}`;
      const answer = await service.send('DELETE', path, { key, headers: { 'Idempotency-Key': 'a' } });
      expect(answer.body).toMatchObject({ id: victim.id, revoked: true });
    }
  });
});

bothDatabases('50 equal requests to two processes on one database', databases => {
  test('have one effect and 50 equal answers', async () => {
    const database = await databases.create('payments');
    await using one = await startGatedKeys({ database, limits: LIMITS });
    await using other = await startGatedKeys({ database, limits: LIMITS });
    const organizationId = await one.organization();
    const { secret: key } = await one.key({ organizationId });

    for (const name of ['a', 'b', 'c']) {
      const headers = { 'Idempotency-Key': name };
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? one : other).send('POST', KEYS, { key, body: { ...BODY, name }, headers }),
        ),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
    }

    const made = await rowsOf(one.db, 'select id from api_keys where organization_id = ?', [organizationId]);
    expect(made).toHaveLength(1 + 3);
  });
});

describe('a request whose key another process holds, on PostgreSQL', () => {
  let database: TestDatabase;
  let clock: ManualClock;
  let one: GatedKeys;
  let other: GatedKeys;
  let key: string;

  beforeAll(async () => {
    database = await postgresDatabase('payments');
    clock = manualClock();
    const options = { database: database.options, clock, limits: LIMITS };
    one = await startGatedKeys(options);
    other = await startGatedKeys(options);
    key = (await one.key({ organizationId: await one.organization() })).secret;
  });
  afterAll(async () => {
    await one[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
    await database.remove();
  });

  const create = (to: GatedKeys, idempotencyKey: string) =>
    to.send('POST', KEYS, { key, body: BODY, headers: { 'Idempotency-Key': idempotencyKey } });
  const waits = () => eventually(() => (clock.sleepers() === 1 ? true : undefined));

  /** Sends a request whose transaction cannot end until the returned function was called. */
  async function held(idempotencyKey: string) {
    const table = await one.db.transaction();
    await table.raw('lock table api_keys in share row exclusive mode');
    const answer = create(one, idempotencyKey);
    await until(
      () => rowsOf(one.db, "select 1 as found from pg_locks where locktype = 'advisory' and granted"),
      found => found.length > 0,
    );
    return { answer, release: () => table.commit() };
  }

  test('is answered like the first one, 50 ms after its end', async () => {
    const first = await held('a');
    const second = create(other, 'a');
    await waits();

    await first.release();
    const answer = await first.answer;
    clock.advance(49);
    expect(clock.sleepers()).toBe(1);
    clock.advance(1);
    expect(clock.sleepers()).toBe(0);

    expect(answer.status).toBe(201);
    expect((await second).text).toBe(answer.text);
    expect((await second).headers.get('idempotent-replayed')).toBe('true');
  });

  test('is a conflict after 10 seconds', async () => {
    const first = await held('b');
    const second = create(other, 'b');
    await waits();

    clock.advance(10_000);
    const answer = await second;
    await first.release();

    expect(statusAndBody(answer)).toEqual([409, conflict(/still in progress/)]);
    expect((await first.answer).status).toBe(201);
  });
});
