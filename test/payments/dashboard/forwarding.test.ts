import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { until } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import type { ApiClient } from '../../support/payments-api.ts';
import {
  API,
  type Browser,
  type DashboardGround,
  outcome,
  SESSION,
  startDashboardGround,
} from './dashboard-ground.ts';

const LINKS = `${API}/payment-links`;
const LINK = { name: 'Field notebooks', amount: '7' };

eachDatabase('a sign-in to the dashboard', databases => {
  let ground: DashboardGround;
  let secret: string;
  let admin: ApiClient;
  let browser: Browser;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());
  beforeEach(async () => {
    secret = ground.key();
    admin = ground.api(secret);
    browser = ground.browser();
    await browser.signIn(ground.member(secret));
  });

  const links = async () => list(record((await admin.get('/api/v1/payment-links')).body).data).length;

  test('reads and writes through the operations of the API, with the same answers', async () => {
    const created = await browser.send('POST', LINKS, { body: LINK });
    const id = text(record(created.body).id);
    const read = await browser.send('GET', `${LINKS}/${id}`);
    const changed = await browser.send('PATCH', `${LINKS}/${id}`, { body: { name: 'Ruled notebooks' } });

    const direct = await admin.get(`/api/v1/payment-links/${id}`);
    expect([created.status, read.status, changed.status]).toEqual([201, 200, 200]);
    expect(read.body).toEqual(created.body);
    expect(direct.body).toEqual(changed.body);
  });

  test('keeps the headers of the API: rate limit, request id, entity tag; nothing is stored', async () => {
    const read = await browser.send('GET', `${LINKS}?limit=5`, { headers: { 'X-Request-Id': 'page-1' } });
    const direct = await admin.get('/api/v1/payment-links?limit=5');

    expect(Number(read.headers.get('x-ratelimit-remaining'))).toBeGreaterThan(0);
    expect(read.headers.get('x-request-id')).toBe('page-1');
    expect(direct.headers.get('cache-control')).toBe('private, no-cache');
    expect(read.headers.get('cache-control')).toBe('no-store');
    expect(read.headers.get('etag')).toBe(direct.headers.get('etag'));
  });

  test('names its member in decisions of the merchant, as a program names its key', async () => {
    const link = record((await browser.send('POST', LINKS, { body: LINK })).body);
    const opened = async () => {
      const body = { payment_link_id: link.id };
      const session = text(record((await admin.post('/api/v1/checkout-sessions', body)).body).id);
      await admin.post(`/api/v1/test/sessions/${session}/simulate`, { outcome: 'underpaid' });
      return session;
    };
    const { id: member } = record(record((await browser.send('GET', SESSION)).body).member);
    const keys = list(record((await admin.get('/api/v1/api-keys')).body).data).map(record);

    const byPerson = await browser.send('POST', `${API}/checkout-sessions/${await opened()}/accept`);
    const byProgram = await admin.post(`/api/v1/checkout-sessions/${await opened()}/accept`);

    expect(byPerson.body).toMatchObject({ status: 'completed', accepted_by: `member:${member}` });
    expect(byProgram.body).toMatchObject({ status: 'completed', accepted_by: `api_key:${keys[0]?.id}` });
  });

  test('is counted and logged as the operation, with the path as sent', async () => {
    await browser.send('GET', `${LINKS}?limit=7`);

    const line = await until(
      async () => ground.lines.find(one => one.includes(`${LINKS}?limit=7`)),
      one => one !== undefined,
    );
    expect(JSON.parse(text(line))).toMatchObject({ operationId: 'listPaymentLinks', status: 200 });
  });

  test('leaves nothing in the log that a customer wrote into a query', async () => {
    await browser.send(
      'GET',
      `${LINKS}?limit=8&search=Private%20Person&customer_email=victim@private.example`,
    );

    const line = await until(
      async () => ground.lines.find(one => one.includes(`${LINKS}?limit=8`)),
      one => one !== undefined,
    );
    expect(JSON.parse(text(line)).path).toBe(`${LINKS}?limit=8&search=***&customer_email=***`);
    expect(ground.lines.join('')).not.toMatch(/private/i);
  });

  test('repeats the answer to an idempotency key, and shares it with the API', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const first = await browser.send('POST', LINKS, { body: LINK, headers });
    const second = await browser.send('POST', LINKS, { body: LINK, headers });
    const direct = await admin.post('/api/v1/payment-links', LINK, headers);
    const other = await browser.send('POST', LINKS, { body: { ...LINK, amount: '8' }, headers });

    expect([first.status, second.status, direct.status]).toEqual([201, 201, 201]);
    expect([second.body, direct.body]).toEqual([first.body, first.body]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(outcome(other)).toBe('409 idempotency_conflict');
    expect(await links()).toBe(1);
  });

  test('has the permission of its member’s role', async () => {
    const { id } = record((await admin.post('/api/v1/payment-links', LINK)).body);
    const chains = list(record((await admin.get('/api/v1/chains')).body).data).map(record);
    const attempts = [
      ['GET', LINKS, undefined],
      ['PATCH', `${LINKS}/${id}`, { name: 'Other' }],
      ['GET', `${API}/api-keys`, undefined],
      ['PATCH', `${API}/organization`, { origins: [] }],
      ['PATCH', `${API}/organization`, { recipients_locked: true }],
      ['POST', `${API}/recipients`, { chain_id: chains[0]?.id, address: `0x${'11'.repeat(20)}` }],
    ] as const;
    const statuses: Record<string, number[]> = {};

    for (const role of ['read_only', 'support', 'developer', 'owner'] as const) {
      const member = ground.browser();
      await member.signIn(ground.member(secret, role));
      const answers = [];
      for (const [method, path, body] of attempts)
        answers.push((await member.send(method, path, body && { body })).status);
      statuses[role] = answers;
    }

    expect(statuses).toEqual({
      read_only: [200, 403, 403, 403, 403, 403],
      support: [200, 200, 403, 403, 403, 403],
      developer: [200, 200, 200, 200, 403, 403],
      owner: [200, 200, 200, 200, 200, 201],
    });
  });

  test('answers 404 to unknown paths and methods, and to payer operations', async () => {
    const link = record((await browser.send('POST', LINKS, { body: LINK })).body);
    const session = record(
      (await admin.post('/api/v1/checkout-sessions', { payment_link_id: link.id })).body,
    );
    const state = `/pay/sessions/${text(session.id)}/status`;
    expect((await fetch(`${ground.service.url}/api/v1${state}`)).status).toBe(200);
    const wrong: [string, string][] = [
      ['GET', `${API}${state}`],
      ['GET', `${API}/nothing`],
      ['PUT', LINKS],
      ['GET', `${API}/pay/links/${text(link.short_code)}`],
      ['GET', '/dashboard/api/v2/payment-links'],
      ['GET', '/dashboard/api/docs'],
    ];

    for (const [method, path] of wrong) {
      expect([path, outcome(await browser.send(method, path))]).toEqual([path, '404 resource_not_found']);
    }
  });

  describe('changes nothing', () => {
    const changes = async () => {
      const { id } = record((await browser.send('POST', LINKS, { body: LINK })).body);
      return [
        ['POST', LINKS, LINK],
        ['PATCH', `${LINKS}/${id}`, { name: 'Other' }],
        ['DELETE', `${LINKS}/${id}`, undefined],
        ['DELETE', SESSION, undefined],
      ] as const;
    };

    test('without its CSRF token, with a wrong one, and with that of another sign-in of the same member', async () => {
      const other = ground.browser();
      await other.signIn(ground.member(secret));
      const wrong = [null, 'x', 'x'.repeat(browser.csrf().length), other.csrf(), `${browser.csrf()}x`];

      for (const [method, path, body] of await changes()) {
        for (const csrf of wrong) {
          const answer = await browser.send(method, path, { csrf, ...(body && { body }) });
          expect([method, path, csrf, outcome(answer)]).toEqual([
            method,
            path,
            csrf,
            '403 insufficient_permissions',
          ]);
        }
      }
      expect(await links()).toBe(1);
      expect((await browser.send('GET', LINKS)).body).toMatchObject({ data: [LINK] });
    });

    test('and each such refusal counts against the limit of its member, in API and dashboard', async () => {
      const wrong = { csrf: 'x' };
      const left = async () =>
        Number((await browser.send('GET', SESSION)).headers.get('x-ratelimit-remaining'));
      const before = await left();

      await browser.send('POST', LINKS, { ...wrong, body: LINK });
      await browser.send('DELETE', SESSION, wrong);

      expect(before - (await left())).toBe(3);
    });

    test('when another site or origin sends the request, even with the right token', async () => {
      const own = new URL(ground.service.url).origin;
      const wrong = [
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'same-site' },
        { 'Sec-Fetch-Site': 'none' },
        { Origin: 'https://shop.example' },
        { Origin: 'null' },
        { Origin: own, 'Sec-Fetch-Site': 'cross-site' },
        { Origin: 'https://shop.example', 'Sec-Fetch-Site': 'same-origin' },
      ];

      for (const [method, path, body] of await changes()) {
        for (const headers of wrong) {
          const answer = await browser.send(method, path, { headers, ...(body && { body }) });
          expect([path, headers, outcome(answer)]).toEqual([path, headers, '403 insufficient_permissions']);
        }
      }
      expect(await links()).toBe(1);
      const headers = { Origin: own, 'Sec-Fetch-Site': 'same-origin' };
      expect((await browser.send('POST', LINKS, { body: LINK, headers })).status).toBe(201);
    });
  });

  describe('is the only credential below /dashboard, and none elsewhere:', () => {
    test('a key in a header is refused there', async () => {
      const stranger = ground.browser();

      for (const headers of [{ 'X-API-Key': secret }, { Authorization: `Bearer ${secret}` }]) {
        for (const path of [LINKS, SESSION]) {
          expect(outcome(await stranger.send('GET', path, { headers }))).toBe('401 key_missing');
        }
        expect(outcome(await stranger.send('POST', LINKS, { headers, body: LINK }))).toBe('401 key_missing');
      }
      expect(await links()).toBe(0);
    });

    test('a key sent along with the sign-in is ignored', async () => {
      const other = ground.key();

      const { body } = await browser.send('GET', `${API}/organization`, { headers: { 'X-API-Key': other } });

      expect(body).toEqual((await admin.get('/api/v1/organization')).body);
    });

    test('the cookie is refused by the API, for reads and changes', async () => {
      expect(outcome(await browser.send('GET', '/api/v1/payment-links'))).toBe('401 key_missing');
      expect(outcome(await browser.send('POST', '/api/v1/payment-links', { body: LINK }))).toBe(
        '401 key_missing',
      );
      expect(await links()).toBe(0);
    });
  });

  test('is closed to pages of other origins: no CORS headers, no preflights', async () => {
    const headers = {
      Origin: 'https://shop.example',
      'Access-Control-Request-Headers': 'x-csrf-token,content-type',
    };
    for (const path of ['/dashboard', SESSION, LINKS, `${API}/pay/links/x/sessions`]) {
      const read = await browser.send('GET', path, { headers });
      const preflights = await Promise.all(
        ['GET', 'POST', 'DELETE'].map(method =>
          browser.send('OPTIONS', path, { headers: { ...headers, 'Access-Control-Request-Method': method } }),
        ),
      );

      for (const answer of [read, ...preflights]) {
        expect([...answer.headers.keys()].filter(name => name.startsWith('access-control-'))).toEqual([]);
      }
      expect(preflights.map(({ status }) => status)).toEqual([404, 404, 404]);
    }
  });
});
