import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newKey } from '../../../src/payments/keys/api-key.ts';
import { record, text } from '../../lab/json.ts';
import { eachDatabase, sqliteDatabase } from '../../support/databases.ts';
import {
  API,
  anotherKey,
  type Browser,
  type DashboardGround,
  outcome,
  type PageAnswer,
  SESSION,
  startDashboardGround,
} from './dashboard-ground.ts';

const LINKS = `${API}/payment-links`;
const TWELVE_HOURS_MS = 12 * 3_600_000;
/** Headers of a trusted https proxy. */
const BY_HTTPS = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'pay.example' };

const cookieOf = ({ headers }: PageAnswer) => headers.getSetCookie();
const VALUE = '[\\w-]{43}\\.[\\w-]{43}';
const ATTRIBUTES = 'Path=/dashboard; Max-Age=43200; HttpOnly; SameSite=Strict';

eachDatabase('signing in to the dashboard', databases => {
  let ground: DashboardGround;
  let secret: string;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
    secret = ground.key();
  });
  afterAll(() => ground.close());

  const signedIn = async (credential: object = { key: secret }): Promise<Browser> => {
    const browser = ground.browser();
    await browser.signIn(credential);
    return browser;
  };

  test('answers with the owner of the sign-in, as does every later request for the sign-in', async () => {
    const admin = ground.api(secret);
    const { id, secret: key } = await anotherKey(admin, { name: 'Counter', permission: 'write' });
    const organization = record((await admin.get('/api/v1/organization')).body);
    const browser = ground.browser();

    const created = await browser.signIn({ key });
    const read = await browser.send('GET', SESSION);

    expect([created.status, read.status]).toEqual([201, 200]);
    expect(read.body).toEqual(created.body);
    expect(read.body).toEqual({
      object: 'dashboard_session',
      organization: { id: organization.id, name: organization.name },
      mode: 'test',
      key: { id, name: 'Counter', last_four: key.slice(-4) },
      permission: 'write',
      permissions: ['read', 'write'],
      expires_at: new Date(ground.clock.now() + TWELVE_HOURS_MS).toISOString(),
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
    });
    for (const { headers } of [created, read]) expect(headers.get('cache-control')).toBe('no-store');
  });

  test('shows the organization’s current name in the key’s mode', async () => {
    const key = ground.key();
    const browser = await signedIn({ key });

    await ground.api(key).patch('/api/v1/organization', { name: 'Paper & Sons' });

    const { organization } = record((await browser.send('GET', SESSION)).body);
    expect(organization).toMatchObject({ name: 'Paper & Sons' });
  });

  test('answers the expiry of the key if it is earlier than the end of the sign-in', async () => {
    const end = new Date(ground.clock.now() + 60_000).toISOString();
    const { secret: key } = await anotherKey(ground.api(secret), { expires_at: end });

    const { body } = await ground.browser().signIn({ key });

    expect(record(body).expires_at).toBe(end);
  });

  describe('sets a cookie', () => {
    test('over http that is HttpOnly, limited to /dashboard and valid for 12 hours', async () => {
      const [cookie, ...more] = cookieOf(await ground.browser().signIn({ key: secret }));

      expect(cookie).toMatch(new RegExp(`^tollgate_dashboard=${VALUE}; ${ATTRIBUTES}$`));
      expect(more).toEqual([]);
    });

    test('behind a trusted https proxy that is Secure and has a __Secure- name', async () => {
      const browser = ground.browser(BY_HTTPS);

      const [cookie] = cookieOf(await browser.signIn({ key: secret }));

      expect(cookie).toMatch(new RegExp(`^__Secure-tollgate_dashboard=${VALUE}; ${ATTRIBUTES}; Secure$`));
      expect((await browser.send('GET', SESSION)).status).toBe(200);
      const headers = { Origin: 'https://pay.example', 'Sec-Fetch-Site': 'same-origin' };
      const body = { name: 'Field notebooks', amount: '7' };
      expect((await browser.send('POST', LINKS, { body, headers })).status).toBe(201);
    });

    test('that is read under the name for its scheme only', async () => {
      const plain = await signedIn();
      const secure = ground.browser(BY_HTTPS);
      await secure.signIn({ key: secret });
      const value = text(plain.cookie()).split('=')[1];

      const overHttp = await ground.browser().send('GET', SESSION, {
        headers: { Cookie: `__Secure-tollgate_dashboard=${value}` },
      });
      const overHttps = await ground.browser(BY_HTTPS).send('GET', SESSION, {
        headers: { Cookie: text(plain.cookie()) },
      });

      expect([outcome(overHttp), outcome(overHttps)]).toEqual(['401 key_missing', '401 key_missing']);
    });

    test('that is refused when sent twice, because one of the two is foreign', async () => {
      const browser = await signedIn();
      const other = await signedIn();
      const send = (cookie: string) => ground.browser().send('GET', SESSION, { headers: { Cookie: cookie } });

      expect(outcome(await send(`${browser.cookie()}; ${other.cookie()}`))).toBe('401 key_missing');
      expect(outcome(await send(`theme=dark; ${browser.cookie()}; lang=en`))).toBe('200');
    });
  });

  test('creates a new cookie value each time and ends the browser’s previous sign-in', async () => {
    const browser = ground.browser();
    const first = record((await browser.signIn({ key: secret })).body);
    const before = text(browser.cookie());
    const second = record((await browser.signIn({ key: secret })).body);

    const old = await ground.browser().send('GET', SESSION, { headers: { Cookie: before } });

    expect(browser.cookie()).not.toBe(before);
    expect(second.csrf_token).not.toBe(first.csrf_token);
    expect(outcome(old)).toBe('401 key_invalid');
    expect((await browser.send('GET', SESSION)).status).toBe(200);
  });

  test('never adopts a cookie value chosen by someone else', async () => {
    const chosen = `tollgate_dashboard=${'A'.repeat(43)}`;
    const browser = ground.browser();

    const { headers } = await browser.signIn({ key: secret }, { Cookie: chosen });
    const old = await ground.browser().send('GET', SESSION, { headers: { Cookie: chosen } });

    expect(headers.getSetCookie()[0]).not.toContain(chosen);
    expect(outcome(old)).toBe('401 key_invalid');
  });

  describe('is refused', () => {
    const refused = async (credential: object, headers = {}) => {
      const answer = await ground.browser().signIn(credential, headers);
      expect(cookieOf(answer)).toEqual([]);
      return outcome(answer);
    };

    test('with an unknown, mistyped, revoked, expired or rolled key, like in the API', async () => {
      const admin = ground.api(secret);
      const revoked = await anotherKey(admin);
      const expired = await anotherKey(admin, {
        expires_at: new Date(ground.clock.now() + 1).toISOString(),
      });
      const rolled = await anotherKey(admin);
      await admin.delete(`/api/v1/api-keys/${revoked.id}`);
      await admin.post(`/api/v1/api-keys/${rolled.id}/roll`, { old_key_expires_in: 3_600 });
      ground.clock.advance(1);

      expect(await refused({ key: newKey('test') })).toBe('401 key_invalid');
      expect(await refused({ key: secret.slice(0, -1) })).toBe('401 key_invalid');
      expect(await refused({ key: '' })).toBe('401 key_invalid');
      expect(await refused({ key: revoked.secret })).toBe('401 key_revoked');
      expect(await refused({ key: expired.secret })).toBe('401 key_expired');
      expect(await refused({ key: rolled.secret })).toBe('401 key_revoked');
    });

    test('without a key, with more than one credential, or with a body that is not a JSON object', async () => {
      expect(await refused({})).toBe('400 missing_required_field');
      expect(await refused({ key: secret, token: 'x' })).toBe('400 invalid_field_value');
      expect(await refused({ key: 7 })).toBe('400 invalid_field_value');
      expect(await refused({ key: 'x'.repeat(201) })).toBe('400 invalid_field_value');
      expect(await refused({ secret })).toBe('400 invalid_field_value');
      expect(await refused([secret])).toBe('400 invalid_field_value');
      expect(await refused({ key: secret }, { 'Content-Type': 'text/plain' })).toBe(
        '400 invalid_field_value',
      );
    });

    test('from a page of another origin, even with a valid key', async () => {
      const wrong = [
        { Origin: 'https://shop.example' },
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'same-site' },
      ];
      for (const headers of wrong) {
        expect(await refused({ key: secret }, headers)).toBe('403 insufficient_permissions');
      }
    });

    test('after 30 failures per minute from one address, which may still use a valid key', async () => {
      const browser = ground.browser({ 'X-Forwarded-For': '203.0.113.7' });
      const answers: string[] = [];
      for (let sent = 0; sent < 31; sent++)
        answers.push(outcome(await browser.signIn({ key: newKey('test') })));

      const elsewhere = ground.browser({ 'X-Forwarded-For': '203.0.113.8' });

      expect(new Set(answers.slice(0, 30))).toEqual(new Set(['401 key_invalid']));
      expect(answers[30]).toBe('429 rate_limit_exceeded');
      expect(outcome(await elsewhere.signIn({ key: newKey('test') }))).toBe('401 key_invalid');
      expect((await browser.signIn({ key: secret })).status).toBe(201);
    });

    test('beyond 60 requests per minute from one address, with any bodies', async () => {
      const browser = ground.browser({ 'X-Forwarded-For': '203.0.113.20' });
      const answers: string[] = [];
      for (let sent = 0; sent < 61; sent++) answers.push(outcome(await browser.signIn({ unknown: sent })));

      const valid = await browser.signIn({ key: secret });
      const elsewhere = await ground.browser({ 'X-Forwarded-For': '203.0.113.21' }).signIn({ key: secret });

      expect(new Set(answers.slice(0, 60))).toEqual(new Set(['400 invalid_field_value']));
      expect([answers[60], outcome(valid)]).toEqual(['429 rate_limit_exceeded', '429 rate_limit_exceeded']);
      expect(elsewhere.status).toBe(201);
    });

    test('with a body of more than 4 kB', async () => {
      const body = { key: secret, token: 'x'.repeat(4_096) };

      expect(await refused(body)).toBe('400 invalid_field_value');
      expect(text(record(record((await ground.browser().signIn(body)).body).error).message)).toContain(
        '4096 bytes',
      );
    });

    test('beyond the rate limit of its key, like any request with it', async () => {
      const strict = await startDashboardGround(await databases.create('payments'), {
        rateLimitPerMinute: { standard: 2, elevated: 2 },
      });
      const key = strict.key();
      const browser = strict.browser();

      const answers = [
        await browser.signIn({ key }),
        await browser.send('GET', SESSION),
        await browser.send('GET', LINKS),
        await browser.signIn({ key }),
      ].map(outcome);
      await strict.close();

      expect(answers).toEqual(['201', '200', '429 rate_limit_exceeded', '429 rate_limit_exceeded']);
    });
  });

  test('answers an unknown method with 404, and a missing sign-in with 401', async () => {
    expect(outcome(await ground.browser().send('PUT', SESSION))).toBe('404 resource_not_found');
    expect(outcome(await ground.browser().send('GET', SESSION))).toBe('401 key_missing');
    expect(outcome(await ground.browser().send('DELETE', SESSION))).toBe('401 key_missing');
  });
});

test('with an https public URL every cookie is Secure', async () => {
  const database = await sqliteDatabase('payments');
  const ground = await startDashboardGround(database.options, { publicUrl: 'https://pay.example' });
  const browser = ground.browser();

  const answer = await browser.signIn({ key: ground.key() }, { Origin: 'https://pay.example' });

  expect(cookieOf(answer)[0]).toMatch(/^__Secure-tollgate_dashboard=.*; Secure$/);
  expect((await browser.send('GET', SESSION)).status).toBe(200);
  await ground.close();
  await database.remove();
});
