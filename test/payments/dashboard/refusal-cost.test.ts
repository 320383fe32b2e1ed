import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { paymentsErrorBody } from '../../../src/contract/contracts/payments-errors.ts';
import { type Db, openDatabase } from '../../../src/db/open.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { newId } from '../../../src/lib/ids.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { rateLimits } from '../../../src/payments/api/gate/rate-limits.ts';
import { dashboardRoutes } from '../../../src/payments/dashboard/sign-in/routes.ts';
import { ownerAddress } from '../../../src/payments/members/owner-address.ts';
import { seals } from '../../../src/payments/secrets/sealed.ts';
import { organizationStore } from '../../../src/payments/store/organization-store.ts';
import { type Served, serve } from '../../http/serve.ts';
import { eachDatabase } from '../../support/databases.ts';

const SESSION = '/dashboard/session';
const KEY_LIMIT = 40;
const FAILURES = 30;

const inventedCookie = () =>
  `tollgate_dashboard=${randomBytes(32).toString('base64url')}.${randomBytes(32).toString('base64url')}`;

eachDatabase('a refused request', databases => {
  let db: Db;
  let served: Served;
  let address = 0;
  /** Reads and counts so far. The use of a key is noted in the background. */
  const statements: string[] = [];

  beforeAll(async () => {
    db = openDatabase(await databases.create('payments'));
    db.on('query', ({ sql }: { sql: string }) => {
      if (/^(?:with|select|insert into "?rate_limits)/i.test(sql.trim())) statements.push(sql);
    });
    const log = createLogger({ level: 'silent' });
    const counts = rateLimits(db, { standard: KEY_LIMIT, elevated: KEY_LIMIT }, { perMember: KEY_LIMIT });
    const routes = await dashboardRoutes({
      db,
      seals: seals(['a secret of the dashboard that is tested']),
      clock: systemClock,
      log,
      publicUrl: 'http://pay.example',
      counts,
      chains: { all: [] },
      hasMailServer: false,
      validateResponses: true,
      trail: () => async () => {},
      readOverview: () => Promise.reject(new Error('no overview here')),
    });
    served = await serve(routes, { log, formatError: paymentsErrorBody, trustedProxies: ['127.0.0.1'] });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    await db.destroy();
  });

  const newAddress = () => `203.0.113.${++address}`;

  /** Token of a one-time address of a new organization's owner. */
  async function newToken(): Promise<string> {
    const organizationId = newId('org');
    const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
    const createdAt = Date.now();
    await organizationStore(db).insert({
      id: organizationId,
      name: organizationId,
      tier: 'standard',
      defaults,
      createdAt,
    });
    return (await transaction(db, handle => ownerAddress(handle, { organizationId }, createdAt))).token;
  }

  function read(from: string, cookie: string): Promise<Response> {
    return fetch(served.url + SESSION, { headers: { Cookie: cookie, 'X-Forwarded-For': from } });
  }

  function signIn(from: string, token: string): Promise<Response> {
    return fetch(served.url + SESSION, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Forwarded-For': from },
      body: JSON.stringify({ token }),
    });
  }

  const cookieOf = (answer: Response) => answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';

  /** Statuses of requests, and the statements that they cost. */
  async function costOf(count: number, ask: () => Promise<Response>) {
    const before = statements.length;
    const statuses = new Set<number>();
    for (let sent = 0; sent < count; sent += 1) {
      const answer = await ask();
      statuses.add(answer.status);
      await answer.bytes();
    }
    return { statuses: [...statuses], statements: statements.slice(before) };
  }

  test('with an invented cookie never looks it up, and costs no statement beyond 30 failures', async () => {
    const from = newAddress();

    const first = await costOf(FAILURES, () => read(from, inventedCookie()));
    await read(from, inventedCookie());
    const beyond = await costOf(50, () => read(from, inventedCookie()));

    expect(first.statuses).toEqual([401]);
    expect(first.statements.filter(sql => sql.includes('member_sessions'))).toEqual([]);
    expect(beyond).toEqual({ statuses: [429], statements: [] });
  });

  test('of a signed-in browser beyond its limit costs no statement', async () => {
    const from = newAddress();
    const cookie = cookieOf(await signIn(from, await newToken()));
    await costOf(KEY_LIMIT + 1, () => read(from, cookie));

    const beyond = await costOf(10, () => read(from, cookie));

    expect(beyond).toEqual({ statuses: [429], statements: [] });
  });

  test('of its neighbours does not refuse a signed-in browser', async () => {
    const from = newAddress();
    const cookie = cookieOf(await signIn(from, await newToken()));
    await costOf(FAILURES + 5, () => read(from, inventedCookie()));

    expect((await read(from, cookie)).status).toBe(200);
  });

  test('with the cookie of an ended sign-in is looked up ten times in a row at most, beyond 30 failures', async () => {
    const from = newAddress();
    const signedIn = await signIn(from, await newToken());
    const cookie = cookieOf(signedIn);
    const { csrf_token: csrf } = JSON.parse(await signedIn.text());
    const headers = { Cookie: cookie, 'X-CSRF-Token': csrf, 'X-Forwarded-For': from };
    await fetch(served.url + SESSION, { method: 'DELETE', headers });
    const startedAt = performance.now();
    await costOf(FAILURES + 1, () => read(from, cookie));

    const beyond = await costOf(100, () => read(from, cookie));

    const seconds = (performance.now() - startedAt) / 1000;
    expect(beyond.statuses).toEqual([429]);
    expect(beyond.statements.length).toBeLessThanOrEqual(10 + 2 * seconds + 1);
  });
});
