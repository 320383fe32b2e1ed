import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rowsOf } from '../../../src/db/query.ts';
import { tokenOf } from '../../lab/dashboard-session.ts';
import { list, record, text } from '../../lab/json.ts';
import { until } from '../../lab/until.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  API,
  type Browser,
  type DashboardGround,
  outcome,
  SESSION,
  startDashboardGround,
} from './dashboard-ground.ts';

const LINKS = `${API}/payment-links`;
const SESSIONS = '/dashboard/sessions';
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
    expect((await browser.signIn(ground.member(key))).status).toBe(201);
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
    test('for every holder of its cookie, while the member’s other sign-ins stay open', async () => {
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

    test('everywhere, for all sign-ins of the member and for none of another member', async () => {
      const key = ground.key();
      const [browser, second, third] = [await signedIn(key), await signedIn(key), await signedIn(key)];
      const colleague = ground.browser();
      await colleague.signIn(ground.member(key, 'developer'));

      const { status, body } = await browser.send('DELETE', `${SESSION}?everywhere=true`);

      expect([status, body]).toMatchObject([200, { everywhere: true }]);
      expect([await state(second), await state(third)]).toEqual(['401 key_invalid', '401 key_invalid']);
      expect(await state(colleague)).toBe('open');
      expect((await ground.api(key).get('/api/v1/payment-links')).status).toBe(200);
    });
  });

  test('when its member is removed', async () => {
    const key = ground.key();
    const owner = await signedIn(key);
    const developer = ground.browser();
    const { body } = await developer.signIn(ground.member(key, 'developer'));
    const { id } = record(record(body).member);

    const removed = await owner.send('DELETE', `/dashboard/members/${id}`);

    expect(removed.status).toBe(200);
    expect(await state(developer)).toBe('401 key_invalid');
    expect(outcome(await ground.browser().signIn(ground.member(key, 'developer')))).toBe('401 key_invalid');
    expect(await state(owner)).toBe('open');
  });

  test('by its id, only for the member or an owner of the organization', async () => {
    const key = ground.key();
    const owner = await signedIn(key);
    const support = ground.browser();
    const developer = ground.browser();
    await support.signIn(ground.member(key, 'support'), { 'User-Agent': 'Support phone' });
    await developer.signIn(ground.member(key, 'developer'));
    const stranger = await signedIn(ground.key());
    const open = async (browser: Browser) =>
      list(record((await browser.send('GET', SESSIONS)).body).data).map(record);
    const phone = (await open(owner)).find(session => session.user_agent === 'Support phone');
    const path = `${SESSIONS}/${phone?.id}`;

    const seen = [await open(owner), await open(developer), await open(support), await open(stranger)];
    const refused = [await developer.send('DELETE', path), await stranger.send('DELETE', path)];
    const ended = await owner.send('DELETE', path);

    expect(seen.map(sessions => sessions.length)).toEqual([3, 1, 1, 1]);
    expect(phone).toMatchObject({ is_current: false, member: { role: 'support' }, mode: 'test' });
    expect(refused.map(outcome)).toEqual(['404 resource_not_found', '404 resource_not_found']);
    expect(outcome(ended)).toBe('200');
    expect(await state(support)).toBe('401 key_invalid');
    expect(await state(developer)).toBe('open');
  });

  test('when its member opens fifty newer ones', async () => {
    const key = ground.key();
    const oldest = await signedIn(key);
    ground.clock.advance(1);
    const second = await signedIn(key);
    const other = await signedIn(ground.key());
    const { id } = record(record((await second.send('GET', SESSION)).body).member);
    for (let opened = 2; opened < 51; opened++) {
      ground.clock.advance(1);
      const { body } = await second.send('POST', `/dashboard/members/${id}/sign-in-address`);
      await ground.browser().signIn({ token: tokenOf(text(record(body).sign_in_url)) });
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
        return rowsOf<{ expires_at: number }>(ground.db, 'select expires_at from member_sessions');
      },
      left => left.length === 1,
    );

    expect(rows).toHaveLength(1);
    expect([await state(browser), await state(young)]).toEqual(['401 key_invalid', 'open']);
  });
});
