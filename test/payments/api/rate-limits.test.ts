import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { bothDatabases, eachDatabase } from '../../support/databases.ts';
import { type Answered, type GatedKeys, startGatedKeys } from '../../support/gated-keys.ts';
import { manualClock } from '../../support/manual-clock.ts';

const LIST = '/api/v1/api-keys';
const stateOf = (id: string) => `/api/v1/pay/sessions/${id}/status`;
const claimsOf = (id: string) => `/api/v1/pay/sessions/${id}/claims`;
const CLAIM = { body: { tx_hash: `0x${'ab'.repeat(32)}` } };

/** The structured fields, with a reset within a minute. */
const STRUCTURED = {
  state: expect.stringMatching(/^"minute";r=\d+;t=[1-6]?\d$/),
  policy: '"minute";q=3;w=60',
};
const structured = ({ headers }: Answered) => ({
  state: headers.get('ratelimit'),
  policy: headers.get('ratelimit-policy'),
});
const headersOf = ({ headers }: Answered) => ({
  limit: headers.get('x-ratelimit-limit'),
  remaining: headers.get('x-ratelimit-remaining'),
});
const UNCOUNTED = { limit: null, remaining: null };

async function times<T>(count: number, ask: () => Promise<T>): Promise<T[]> {
  const answers: T[] = [];
  for (let sent = 0; sent < count; sent++) answers.push(await ask());
  return answers;
}

bothDatabases('requests per minute', databases => {
  let service: GatedKeys;
  let address = 0;

  beforeAll(async () => {
    service = await startGatedKeys({
      database: await databases.create('payments'),
      limits: { standard: 3, elevated: 5 },
    });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const newAddress = () => `203.0.113.${++address}`;
  const newSecret = async (tier: 'standard' | 'elevated' = 'standard') =>
    (await service.key({ organizationId: await service.organization(tier) })).secret;

  describe('of a key', () => {
    test('are counted down on every answer, errors included, and refused with the time to wait', async () => {
      const key = await newSecret();
      const begunAt = Date.now() / 1000;

      const answers = [
        await service.send('GET', LIST, { key }),
        await service.send('GET', `${LIST}?limit=0`, { key }),
        await service.send('DELETE', `${LIST}/ak_missing`, { key }),
        await service.send('GET', LIST, { key }),
      ];

      expect(answers.map(structured)).toEqual(answers.map(() => STRUCTURED));
      expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 429]);
      expect(answers.map(headersOf)).toEqual(
        ['2', '1', '0', '0'].map(remaining => ({ limit: '3', remaining })),
      );
      const headers = answers[3]?.headers ?? new Headers();
      const seconds = Number(headers.get('retry-after'));
      const elapsed = Date.now() / 1000 - begunAt;
      const refusedAfter = Number(headers.get('x-ratelimit-reset')) - seconds - begunAt;
      expect(seconds).toBeGreaterThanOrEqual(Math.floor(60 - elapsed));
      expect(seconds).toBeLessThanOrEqual(60);
      expect(refusedAfter).toBeGreaterThan(-1);
      expect(refusedAfter).toBeLessThan(elapsed + 1);
      expect(answers[3]?.body).toEqual({
        error: {
          type: 'rate_limit_error',
          code: 'rate_limit_exceeded',
          message: `Rate limit exceeded. Retry after ${seconds} seconds.`,
        },
      });
    });

    test('are higher for an organization of the elevated tier', async () => {
      const key = await newSecret('elevated');

      const statuses = await times(6, async () => (await service.send('GET', LIST, { key })).status);

      expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    });

    test('are counted for each key, even of one organization, also when sent at once', async () => {
      const organizationId = await service.organization();
      const first = (await service.key({ organizationId })).secret;
      const second = (await service.key({ organizationId })).secret;

      const answers = await Promise.all(
        Array.from({ length: 10 }, () => service.send('GET', LIST, { key: first })),
      );

      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      expect((await service.send('GET', LIST, { key: second })).status).toBe(200);
    });
  });

  describe('without a valid key', () => {
    test('are limited to 30 per address, which may still use a valid key', async () => {
      const from = newAddress();
      const key = await newSecret();

      const answers = await times(31, () => service.send('GET', LIST, { from, key: `${key}x` }));
      const valid = await service.send('GET', LIST, { from, key });
      const elsewhere = await service.send('GET', LIST, { from: newAddress() });

      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(30).fill(401), 429]);
      expect(answers.at(-1)?.headers.get('retry-after')).toMatch(/^\d+$/);
      expect(answers.map(headersOf)[0]).toEqual({ limit: '30', remaining: '29' });
      expect([valid.status, headersOf(valid)]).toEqual([200, { limit: '3', remaining: '2' }]);
      expect(elsewhere.status).toBe(401);
    });

    test('are not counted on loopback', async () => {
      const answers = await times(35, () => service.send('GET', LIST));

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
      expect(answers.map(headersOf).at(-1)).toEqual(UNCOUNTED);
    });
  });

  describe('of payers', () => {
    test('are limited to 60 per address over all sessions, and not counted on loopback', async () => {
      const from = newAddress();
      const claimAny = (sent: object) => service.send('POST', claimsOf(newId('cs')), { ...CLAIM, ...sent });

      const answers = await times(61, () => claimAny({ from }));
      const local = await times(65, () => claimAny({}));

      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(60).fill(404), 429]);
      expect(answers.map(headersOf).at(0)).toEqual({ limit: '5', remaining: '4' });
      expect(local.filter(({ status }) => status !== 404)).toEqual([]);
    });

    test('for the state are limited to 120 per session, without affecting other requests of the address', async () => {
      const from = newAddress();
      const id = newId('cs');

      const answers = await times(121, () => service.send('GET', stateOf(id), { from }));
      const elsewhere = await service.send('GET', stateOf(id), { from: newAddress() });
      const another = await service.send('GET', stateOf(newId('cs')), { from });
      const claim = await service.send('POST', claimsOf(newId('cs')), { ...CLAIM, from });

      expect(answers.map(({ status }) => status)).toEqual([...Array<number>(120).fill(404), 429]);
      expect([elsewhere.status, another.status, claim.status]).toEqual([429, 404, 404]);
    });

    test('for states are limited to 1,200 per address over all sessions', async () => {
      const from = newAddress();
      const client = { address: from, protocol: 'http', host: 'shop.example', isExempt: false } as const;
      // Counted without HTTP, because all requests have to be within a minute.
      await times(1_195, () => service.counts.countStateReader(client));

      const answers = await times(7, () => service.send('GET', stateOf(newId('cs')), { from }));

      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404, 429, 429]);
      expect(answers.map(headersOf).at(-1)).toEqual({ limit: '1200', remaining: '0' });
    });

    test('beyond the limit of their address use up no proof of a session', async () => {
      const from = newAddress();
      const client = { address: from, protocol: 'http', host: 'shop.example', isExempt: false } as const;
      await times(60, () => service.counts.countPayer(client));
      const id = newId('cs');
      const claim = (sender: string) => service.send('POST', claimsOf(id), { ...CLAIM, from: sender });

      const refused = await times(5, () => claim(from));
      const other = await claim(newAddress());

      expect(refused.map(({ status }) => status)).toEqual([429, 429, 429, 429, 429]);
      expect(other.status).toBe(404);
    });

    test('with a proof are limited to 5 per session, from any address and for any spelling of its id', async () => {
      const id = newId('cs');
      const escaped = `%63${id.slice(1)}`;

      const claims = await times(5, () =>
        service.send('POST', claimsOf(id), { ...CLAIM, from: newAddress() }),
      );
      const beyond = [
        await service.send('POST', claimsOf(id), { ...CLAIM, from: newAddress() }),
        await service.send('POST', claimsOf(id), CLAIM),
        await service.send('POST', claimsOf(escaped), CLAIM),
        await service.send('POST', `/api/v1/pay/sessions/${id}/wallet`, { body: {} }),
      ];
      const others = [
        await service.send('POST', claimsOf(newId('cs')), CLAIM),
        await service.send('GET', stateOf(id)),
      ];

      expect(claims.map(({ status }) => status)).toEqual([404, 404, 404, 404, 404]);
      expect(claims.map(headersOf).map(({ remaining }) => remaining)).toEqual(['4', '3', '2', '1', '0']);
      expect(beyond.map(({ status }) => status)).toEqual([429, 429, 429, 429]);
      expect(others.map(({ status }) => status)).toEqual([404, 404]);
    });
  });
});

bothDatabases('a limit whose counts cannot be written', databases => {
  test('is counted within the process', async () => {
    const limits = { standard: 3, elevated: 3 };
    await using service = await startGatedKeys({ database: await databases.create('payments'), limits });
    const { secret: key } = await service.key({ organizationId: await service.organization() });
    await service.db.raw('drop table rate_limits');

    const answers = await times(4, () => service.send('GET', LIST, { key }));

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
  });
});

eachDatabase('the limits of an answer', databases => {
  /** State of the limits of a claim, whose address and session have these milliseconds left. */
  async function shownFor(left: Readonly<Record<string, number>>) {
    const counters: RequestCounters = (kind, limit) => async () => ({
      limit,
      remaining: 2,
      msLeft: left[kind] ?? 0,
      isRefused: false,
    });
    const clock = manualClock();
    await using service = await startGatedKeys({
      database: await databases.create('payments'),
      counters,
      clock,
    });

    const { headers } = await service.send('POST', claimsOf(newId('cs')), { ...CLAIM, from: '203.0.113.1' });

    const resetMs = Number(headers.get('x-ratelimit-reset')) * 1_000 - clock.now();
    return { limit: headers.get('x-ratelimit-limit'), resetMs };
  }

  test('with equal counts show the one with the longest wait', async () => {
    expect(await shownFor({ payer: 50_000, session: 10_000 })).toEqual({ limit: '60', resetMs: 50_000 });
    expect(await shownFor({ payer: 10_000, session: 50_000 })).toEqual({ limit: '5', resetMs: 50_000 });
  });
});

bothDatabases('two processes', databases => {
  test(`count ${databases.kind === 'postgres' ? 'together on one PostgreSQL' : 'separately on one SQLite'}`, async () => {
    const options = { database: await databases.create('payments'), limits: { standard: 3, elevated: 3 } };
    await using one = await startGatedKeys(options);
    await using other = await startGatedKeys(options);
    const { secret: key } = await one.key({ organizationId: await one.organization() });

    await times(2, () => one.send('GET', LIST, { key }));
    const answers = await times(2, () => other.send('GET', LIST, { key }));

    expect(answers.map(({ status }) => status)).toEqual(
      databases.kind === 'postgres' ? [200, 429] : [200, 200],
    );
  });
});
