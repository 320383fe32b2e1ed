import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { eachDatabase, sqliteDatabase } from '../../support/databases.ts';
import {
  API,
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

  const signedIn = async (): Promise<Browser> => {
    const browser = ground.browser();
    await browser.signIn(ground.member(secret));
    return browser;
  };

  test('answers with the member of the sign-in, as does every later request for the sign-in', async () => {
    const organization = record((await ground.api(secret).get('/api/v1/organization')).body);
    const browser = ground.browser();

    const created = await browser.signIn(ground.member(secret, 'support'));
    const read = await browser.send('GET', SESSION);

    expect([created.status, read.status]).toEqual([201, 200]);
    expect(read.body).toEqual(created.body);
    expect(read.body).toEqual({
      object: 'dashboard_session',
      id: expect.stringMatching(/^ds_/),
      organization: { id: organization.id, name: organization.name },
      mode: 'test',
      modes: ['test'],
      member: {
        id: expect.stringMatching(/^mem_/),
        name: 'Member with support',
        email: expect.stringContaining('@shop.example'),
        role: 'support',
      },
      permission: 'write',
      permissions: ['read', 'write'],
      has_passkey: false,
      expires_at: new Date(ground.clock.now() + TWELVE_HOURS_MS).toISOString(),
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
    });
    for (const { headers } of [created, read]) expect(headers.get('cache-control')).toBe('no-store');
  });

  test('shows the organization’s current name in the key’s mode', async () => {
    const key = ground.key();
    const browser = ground.browser();
    await browser.signIn(ground.member(key));

    await ground.api(key).patch('/api/v1/organization', { name: 'Paper & Sons' });

    const { organization } = record((await browser.send('GET', SESSION)).body);
    expect(organization).toMatchObject({ name: 'Paper & Sons' });
  });

  describe('sets a cookie', () => {
    test('over http that is HttpOnly, limited to /dashboard and valid for 12 hours', async () => {
      const [cookie, ...more] = cookieOf(await ground.browser().signIn(ground.member(secret)));

      expect(cookie).toMatch(new RegExp(`^tollgate_dashboard=${VALUE}; ${ATTRIBUTES}$`));
      expect(more).toEqual([]);
    });

    test('behind a trusted https proxy that is Secure and has a __Secure- name', async () => {
      const browser = ground.browser(BY_HTTPS);

      const [cookie] = cookieOf(await browser.signIn(ground.member(secret)));

      expect(cookie).toMatch(new RegExp(`^__Secure-tollgate_dashboard=${VALUE}; ${ATTRIBUTES}; Secure$`));
      expect((await browser.send('GET', SESSION)).status).toBe(200);
      const headers = { Origin: 'https://pay.example', 'Sec-Fetch-Site': 'same-origin' };
      const body = { name: 'Field notebooks', amount: '7' };
      expect((await browser.send('POST', LINKS, { body, headers })).status).toBe(201);
    });

    test('that is read under the name for its scheme only', async () => {
      const plain = await signedIn();
      const secure = ground.browser(BY_HTTPS);
      await secure.signIn(ground.member(secret));
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
    const first = record((await browser.signIn(ground.member(secret))).body);
    const before = text(browser.cookie());
    const second = record((await browser.signIn(ground.member(secret))).body);

    const old = await ground.browser().send('GET', SESSION, { headers: { Cookie: before } });

    expect(browser.cookie()).not.toBe(before);
    expect(second.csrf_token).not.toBe(first.csrf_token);
    expect(outcome(old)).toBe('401 key_invalid');
    expect((await browser.send('GET', SESSION)).status).toBe(200);
  });

  test('never adopts a cookie value chosen by someone else', async () => {
    const chosen = `tollgate_dashboard=${'A'.repeat(43)}`;
    const browser = ground.browser();

    const { headers } = await browser.signIn(ground.member(secret), { Cookie: chosen });
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

    test('with an unknown or used token, and with an API key', async () => {
      const used = ground.member(secret);
      await ground.browser().signIn(used);

      expect(await refused({ token: 'x'.repeat(43) })).toBe('401 key_invalid');
      expect(await refused({ token: '' })).toBe('401 key_invalid');
      expect(await refused(used)).toBe('401 key_invalid');
      expect(await refused({ token: secret })).toBe('401 key_invalid');
      expect(await refused({ key: secret })).toBe('400 invalid_field_value');
    });

    test('without a token, or with a body that is not a JSON object', async () => {
      const { token } = ground.member(secret);
      expect(await refused({})).toBe('400 missing_required_field');
      expect(await refused({ token: 7 })).toBe('400 invalid_field_value');
      expect(await refused({ token: 'x'.repeat(201) })).toBe('400 invalid_field_value');
      expect(await refused([token])).toBe('400 invalid_field_value');
      expect(await refused({ token }, { 'Content-Type': 'text/plain' })).toBe('400 invalid_field_value');
    });

    test('from a page of another origin, even with a valid token', async () => {
      const valid = ground.member(secret);
      const wrong = [
        { Origin: 'https://shop.example' },
        { 'Sec-Fetch-Site': 'cross-site' },
        { 'Sec-Fetch-Site': 'same-site' },
      ];
      for (const headers of wrong) {
        expect(await refused(valid, headers)).toBe('403 insufficient_permissions');
      }
    });

    test('after 30 failures per minute from one address, which may still use a valid token', async () => {
      const browser = ground.browser({ 'X-Forwarded-For': '203.0.113.7' });
      const answers: string[] = [];
      for (let sent = 0; sent < 31; sent++)
        answers.push(outcome(await browser.signIn({ token: 'invented' })));

      const elsewhere = ground.browser({ 'X-Forwarded-For': '203.0.113.8' });

      expect(new Set(answers.slice(0, 30))).toEqual(new Set(['401 key_invalid']));
      expect(answers[30]).toBe('429 rate_limit_exceeded');
      expect(outcome(await elsewhere.signIn({ token: 'invented' }))).toBe('401 key_invalid');
      expect((await browser.signIn(ground.member(secret))).status).toBe(201);
    });

    test('beyond 60 requests per minute from one address, with any bodies', async () => {
      const browser = ground.browser({ 'X-Forwarded-For': '203.0.113.20' });
      const answers: string[] = [];
      for (let sent = 0; sent < 61; sent++) answers.push(outcome(await browser.signIn({ unknown: sent })));

      const valid = await browser.signIn(ground.member(secret));
      const elsewhere = await ground
        .browser({ 'X-Forwarded-For': '203.0.113.21' })
        .signIn(ground.member(secret));

      expect(new Set(answers.slice(0, 60))).toEqual(new Set(['400 invalid_field_value']));
      expect([answers[60], outcome(valid)]).toEqual(['429 rate_limit_exceeded', '429 rate_limit_exceeded']);
      expect(elsewhere.status).toBe(201);
    });

    test('with a body of more than 4 kB', async () => {
      const body = { token: 'x'.repeat(4_096) };

      expect(await refused(body)).toBe('400 invalid_field_value');
      expect(text(record(record((await ground.browser().signIn(body)).body).error).message)).toContain(
        '4096 bytes',
      );
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

  const answer = await browser.signIn(ground.member(ground.key()), { Origin: 'https://pay.example' });

  expect(cookieOf(answer)[0]).toMatch(/^__Secure-tollgate_dashboard=.*; Secure$/);
  expect((await browser.send('GET', SESSION)).status).toBe(200);
  await ground.close();
  await database.remove();
});
