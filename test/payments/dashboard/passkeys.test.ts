import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { rowsOf } from '../../../src/db/query.ts';
import { list, record, text } from '../../lab/json.ts';
import { type SoftwarePasskey, softwarePasskey } from '../../lab/software-passkey.ts';
import { eachDatabase, sqliteDatabase } from '../../support/databases.ts';
import {
  API,
  type Browser,
  type DashboardGround,
  outcome,
  SESSION,
  startDashboardGround,
} from './dashboard-ground.ts';

const ORIGIN = 'https://pay.example';
const BY_HTTPS = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'pay.example' };
const PASSKEYS = '/dashboard/passkeys';
const CHALLENGES = '/dashboard/passkey-challenges';
const CONFIRMATION = '/dashboard/session/confirmation';
const MEMBERS = '/dashboard/members';
const MINUTE_MS = 60_000;

eachDatabase('passkeys', databases => {
  let ground: DashboardGround;
  let secret: string;
  let browser: Browser;
  let passkey: SoftwarePasskey;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'), { publicUrl: ORIGIN });
  });
  afterAll(() => ground.close());
  beforeEach(async () => {
    secret = ground.key();
    browser = ground.browser(BY_HTTPS);
    await browser.signIn(ground.member(secret));
    passkey = softwarePasskey(ORIGIN);
  });

  const options = async (from: Browser, path: string) =>
    record((await from.send('POST', path, path === CHALLENGES ? { csrf: null } : {})).body).options;
  const add = async (one = passkey) => {
    const answer = one.register(await options(browser, `${PASSKEYS}/registration`));
    return browser.send('POST', PASSKEYS, { body: { name: 'Laptop', passkey: answer } });
  };
  const invite = () =>
    browser.send('POST', MEMBERS, {
      body: { name: 'Ada', email: `${crypto.randomUUID()}@books.example`, role: 'support' },
    });

  test('are added, listed, used for signing in, and removed', async () => {
    const added = await add();
    const other = ground.browser(BY_HTTPS);
    const signedIn = await other.signIn({ passkey: passkey.answer(await options(other, CHALLENGES)) });
    const listed = list(record((await other.send('GET', PASSKEYS)).body).data).map(record);
    const removed = await other.send('DELETE', `${PASSKEYS}/${text(record(added.body).id)}`);
    const refused = await ground
      .browser(BY_HTTPS)
      .signIn({ passkey: passkey.answer(await options(other, CHALLENGES)) });

    expect([added.status, signedIn.status, removed.status]).toEqual([201, 201, 200]);
    expect(signedIn.body).toMatchObject({ member: { role: 'owner' }, has_passkey: true });
    expect(listed).toMatchObject([
      { name: 'Laptop', last_used_at: new Date(ground.clock.now()).toISOString() },
    ]);
    expect(outcome(refused)).toBe('400 invalid_field_value');
  });

  test('answer a challenge once, within five minutes, and for its purpose', async () => {
    await add();
    const signIn = (answer: object) => ground.browser(BY_HTTPS).signIn({ passkey: answer });
    const answer = passkey.answer(await options(browser, CHALLENGES));
    const late = passkey.answer(await options(browser, CHALLENGES));
    const confirmation = passkey.answer(await options(browser, CONFIRMATION));

    const answers = [await signIn(answer), await signIn(answer), await signIn(confirmation)];
    ground.clock.advance(5 * MINUTE_MS);
    answers.push(await signIn(late));

    expect(answers.map(outcome)).toEqual(['201', ...Array(3).fill('400 invalid_field_value')]);
  });

  test('of another origin, of another member, or with another key are refused', async () => {
    const foreign = await add(softwarePasskey('https://evil.example'));
    await add();
    const stranger = ground.browser(BY_HTTPS);
    await stranger.signIn(ground.member(ground.key()));

    const answers = [
      foreign,
      await stranger.send('PUT', CONFIRMATION, {
        body: { passkey: passkey.answer(await options(stranger, CONFIRMATION)) },
      }),
      await ground
        .browser(BY_HTTPS)
        .signIn({ passkey: softwarePasskey(ORIGIN).answer(await options(browser, CHALLENGES)) }),
      await ground.browser(BY_HTTPS).signIn({ passkey: {} }),
    ];

    expect(answers.map(outcome)).toEqual(Array(4).fill('400 invalid_field_value'));
  });

  test('confirm changes of people and of where money goes, for five minutes', async () => {
    await add();
    const chains = list(record((await browser.send('GET', `${API}/chains`)).body).data).map(record);
    const changes = async () =>
      [
        await invite(),
        await browser.send('PATCH', `${API}/organization`, { body: { recipients_locked: true } }),
        await browser.send('POST', `${API}/recipients`, {
          body: { chain_id: chains[0]?.id, address: `0x${'11'.repeat(20)}` },
        }),
      ].map(({ status, body }) => [status, record(record(body).error ?? {}).param].join(' ').trim());

    const before = await changes();
    const harmless = await browser.send('PATCH', `${API}/organization`, { body: { origins: [] } });
    const confirmed = await browser.send('PUT', CONFIRMATION, {
      body: { passkey: passkey.answer(await options(browser, CONFIRMATION)) },
    });
    ground.clock.advance(5 * MINUTE_MS);
    const after = await changes();
    ground.clock.advance(1);

    expect(before).toEqual(Array(3).fill('403 passkey'));
    expect([harmless.status, confirmed.status]).toEqual([200, 200]);
    expect(after).toEqual(['201', '200', '201']);
    expect(outcome(await invite())).toBe('403 insufficient_permissions');
  });

  test('are added first in a sign-in of the last 15 minutes, and mailed to the member', async () => {
    const notices = async () => (await rowsOf(ground.db, 'select id from notices')).length;
    const before = await notices();
    ground.clock.advance(15 * MINUTE_MS + 1);
    const refused = await browser.send('POST', `${PASSKEYS}/registration`);
    await browser.signIn(ground.member(secret));
    const answer = passkey.register(await options(browser, `${PASSKEYS}/registration`));
    ground.clock.advance(15 * MINUTE_MS + 1);
    const late = await browser.send('POST', PASSKEYS, { body: { name: 'Late', passkey: answer } });
    await browser.signIn(ground.member(secret));
    const added = await add();

    for (const { status, body } of [refused, late])
      expect([status, record(record(body).error).param]).toEqual([403, 'session']);
    expect(added.status).toBe(201);
    expect(await notices()).toBe(before + 1);
  });

  test('are not needed by a member without one, nor by a program with a key', async () => {
    expect((await invite()).status).toBe(201);
    await add();
    const body = { recipients_locked: true };
    expect((await ground.api(secret).patch('/api/v1/organization', body)).status).toBe(200);
    expect((await browser.send('GET', SESSION)).body).toMatchObject({ has_passkey: true });
  });
});

test('without https, a passkey is refused with the reason', async () => {
  const database = await sqliteDatabase('payments');
  const ground = await startDashboardGround(database.options);

  const { status, body } = await ground.browser().send('POST', CHALLENGES, { csrf: null });

  await ground.close();
  await database.remove();
  expect([status, text(record(record(body).error).message)]).toEqual([
    400,
    expect.stringContaining('needs an https address'),
  ]);
});
