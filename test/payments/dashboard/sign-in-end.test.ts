import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../../src/db/query.ts';
import { until } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  API,
  anotherKey,
  type Browser,
  type DashboardGround,
  outcome,
  SESSION,
  startDashboardGround,
} from './dashboard-ground.ts';

const LINKS = `${API}/payment-links`;
const LINK = { name: 'Field notebooks', amount: '7' };
const TWELVE_HOURS_MS = 12 * 3_600_000;
/** A fraction of the pause between two retention passes. */
const MINUTE_MS = 60_000;

eachDatabase('a sign-in to the dashboard ends', databases => {
  let ground: DashboardGround;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());

  const signedIn = async (key: string): Promise<Browser> => {
    const browser = ground.browser();
    expect((await browser.signIn({ key })).status).toBe(201);
    return browser;
  };
  /** The common outcome of a read, a change and a request for the session. */
  const state = async (browser: Browser): Promise<string> => {
    const answers = [
      await browser.send('GET', SESSION),
      await browser.send('GET', LINKS),
      await browser.send('POST', LINKS, { body: LINK }),
    ].map(outcome);
    return [...new Set(answers.map(one => (one.startsWith('2') ? 'open' : one)))].join();
  };

  describe('by signing out', () => {
    test('for every holder of its cookie, while the key’s other sign-ins stay open', async () => {
      const key = ground.key();
      const browser = await signedIn(key);
      const other = await signedIn(key);
      const cookie = browser.cookie() ?? '';

      const { status, body, headers } = await browser.send('DELETE', SESSION);

      expect([status, body]).toEqual([
        200,
        { object: 'dashboard_session_ended', ended: true, everywhere: false },
      ]);
      expect(headers.getSetCookie()).toEqual([
        'tollgate_dashboard=; Path=/dashboard; Max-Age=0; HttpOnly; SameSite=Strict',
      ]);
      expect(browser.cookie()).toBeUndefined();
      const copy = await ground.browser().send('GET', LINKS, { headers: { Cookie: cookie } });
      expect(outcome(copy)).toBe('401 key_invalid');
      expect(await state(other)).toBe('open');
    });

    test('everywhere, for all sign-ins of the key and for none of another key', async () => {
      const key = ground.key();
      const { secret } = await anotherKey(ground.api(key));
      const [browser, second, third] = [await signedIn(key), await signedIn(key), await signedIn(key)];
      const otherKey = await signedIn(secret);

      const { status, body } = await browser.send('DELETE', `${SESSION}?everywhere=true`);

      expect([status, body]).toMatchObject([200, { everywhere: true }]);
      expect([await state(second), await state(third)]).toEqual(['401 key_invalid', '401 key_invalid']);
      expect(await state(otherKey)).toBe('open');
      expect((await ground.api(key).get('/api/v1/payment-links')).status).toBe(200);
    });
  });

  describe('with its key:', () => {
    test('when the key is revoked', async () => {
      const admin = ground.api(ground.key());
      const { id, secret } = await anotherKey(admin);
      const browser = await signedIn(secret);

      await admin.delete(`/api/v1/api-keys/${id}`);

      expect(await state(browser)).toBe('401 key_revoked');
    });

    test('from the millisecond the key expires', async () => {
      const admin = ground.api(ground.key());
      const expires_at = new Date(ground.clock.now() + 1_000).toISOString();
      const browser = await signedIn((await anotherKey(admin, { expires_at })).secret);

      ground.clock.advance(999);
      expect(await state(browser)).toBe('open');
      ground.clock.advance(1);
      expect(await state(browser)).toBe('401 key_expired');
    });

    test('when the key is rolled, although the key stays valid for its grace period', async () => {
      const admin = ground.api(ground.key());
      const { id, secret } = await anotherKey(admin);
      const browser = await signedIn(secret);

      await admin.post(`/api/v1/api-keys/${id}/roll`, { old_key_expires_in: 3_600 });

      expect(await state(browser)).toBe('401 key_revoked');
      expect((await ground.api(secret).get('/api/v1/payment-links')).status).toBe(200);
    });
  });

  test('when its key opens fifty newer ones', async () => {
    const key = ground.key();
    const oldest = await signedIn(key);
    ground.clock.advance(1);
    const second = await signedIn(key);
    const other = await signedIn(ground.key());
    for (let opened = 2; opened < 51; opened++) {
      ground.clock.advance(1);
      await signedIn(key);
    }

    expect([await state(oldest), await state(second), await state(other)]).toEqual([
      '401 key_invalid',
      'open',
      'open',
    ]);
  });

  test('after 12 hours, even in use', async () => {
    const browser = await signedIn(ground.key());

    for (let hour = 1; hour < 12; hour++) {
      ground.clock.advance(3_600_000);
      expect(await state(browser)).toBe('open');
    }
    ground.clock.advance(3_600_000 - 1);
    expect(await state(browser)).toBe('open');
    ground.clock.advance(1);
    expect(await state(browser)).toBe('401 key_invalid');
  });

  test('and is then removed from the database by retention, while open ones stay', async () => {
    const browser = await signedIn(ground.key());
    ground.clock.advance(TWELVE_HOURS_MS);
    const young = await signedIn(ground.key());

    const rows = await until(
      () => {
        ground.clock.advance(MINUTE_MS);
        return rowsOf<{ expires_at: number }>(ground.db, 'select expires_at from dashboard_sessions');
      },
      left => left.length === 1,
    );

    expect(rows).toHaveLength(1);
    expect([await state(browser), await state(young)]).toEqual(['401 key_invalid', 'open']);
  });
});
