import { afterAll, beforeAll, expect, test } from 'vitest';
import { list, record } from '../../lab/json.ts';
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
const LINK = { name: 'Field notebooks', amount: '7' };
const OVERVIEW = '/dashboard/overview';

eachDatabase('a request of a dashboard page', databases => {
  let ground: DashboardGround;
  beforeAll(async () => {
    ground = await startDashboardGround(await databases.create('payments'));
  });
  afterAll(() => ground.close());

  /** A browser, and the header of a page that it loads now. */
  async function signedIn(key: string, browser: Browser = ground.browser()) {
    const { body } = await browser.signIn(ground.member(key));
    const { organization, mode } = record(body);
    return { browser, headers: { 'X-Dashboard-Session': `${record(organization).id}/${mode}` } };
  }

  test('is answered while the browser is signed in as the page was', async () => {
    const { browser, headers } = await signedIn(ground.key());

    expect(outcome(await browser.send('GET', LINKS, { headers }))).toBe('200');
    expect(outcome(await browser.send('POST', LINKS, { headers, body: LINK }))).toBe('201');
    expect(outcome(await browser.send('GET', OVERVIEW, { headers }))).toBe('200');
  });

  test('is refused after a sign-in to another organization, and changes nothing', async () => {
    const other = ground.key();
    const { browser, headers } = await signedIn(ground.key());
    await signedIn(other, browser);

    const answers = [
      await browser.send('GET', LINKS, { headers }),
      await browser.send('POST', LINKS, { headers, body: LINK }),
      await browser.send('GET', OVERVIEW, { headers }),
      await browser.send('POST', '/dashboard/qr-code', { headers, body: { text: 'https://t.me/x' } }),
      await browser.send('DELETE', SESSION, { headers }),
    ];

    expect(answers.map(outcome)).toEqual(Array(5).fill('412 precondition_failed'));
    expect(record(record(answers[0]?.body).error).param).toBe('X-Dashboard-Session');
    expect(list(record((await ground.api(other).get('/api/v1/payment-links')).body).data)).toEqual([]);
    expect(outcome(await browser.send('GET', SESSION, { headers: {} }))).toBe('200');
  });

  test('for a download names its session in the query, and keeps its filters', async () => {
    const [ours, other] = [ground.key(), ground.key()];
    const { browser, headers } = await signedIn(ours);
    const of = (path: string) =>
      `${API}/${path}dashboard_session=${encodeURIComponent(headers['X-Dashboard-Session'])}`;
    const filtered = of('transactions/export?status=nonsense&');
    const file = of('transactions/export?status=completed&');

    const before = [await browser.send('GET', file), await browser.send('GET', filtered)];
    await signedIn(other, browser);
    const after = [await browser.send('GET', file), await browser.send('GET', of('deposit-addresses/seed?'))];

    expect(before.map(outcome)).toEqual(['200', '400 invalid_field_value']);
    expect(after.map(outcome)).toEqual(Array(2).fill('412 precondition_failed'));
  });

  test('is counted by its member, not by a key', async () => {
    const secret = ground.key();
    const { browser } = await signedIn(secret);
    const admin = ground.api(secret);
    const left = ({ headers }: { headers: Headers }) => Number(headers.get('x-ratelimit-remaining'));
    const before = left(await admin.get('/api/v1/payment-links'));

    const first = await browser.send('GET', LINKS);
    for (let sent = 0; sent < 5; sent++) await browser.send('GET', LINKS);

    expect(first.headers.get('x-ratelimit-limit')).toBe('600');
    expect(left(first) - left(await browser.send('GET', SESSION))).toBe(6);
    expect(before - left(await admin.get('/api/v1/payment-links'))).toBe(1);
  });

  test('for the overview answers its parts as their own operations do', async () => {
    const secret = ground.key();
    const { browser } = await signedIn(secret);
    const link = record((await browser.send('POST', LINKS, { body: LINK })).body);
    const admin = ground.api(secret);
    const opened = record((await admin.post('/api/v1/checkout-sessions', { payment_link_id: link.id })).body);
    await admin.post('/api/v1/webhooks', {
      url: 'https://shop.example/hook',
      events: ['checkout.completed'],
    });

    const overview = record((await browser.send('GET', `${OVERVIEW}?period=7d`)).body);

    const part = async (path: string) => (await admin.get(`/api/v1/${path}`)).body;
    expect(overview).toMatchObject({
      object: 'dashboard_overview',
      figures: await part('analytics/overview?period=7d'),
      chains: await part('chains'),
      open: { data: [{ id: opened.id }], total_count: 1 },
      confirming: { data: [], total_count: 0 },
      unmatched: 0,
      set_aside: { data: [] },
      links: [{ id: link.id, name: 'Field notebooks', sessions: { active: 1 } }],
      webhooks: [{ webhook: { url: 'https://shop.example/hook' }, failed: { data: [], total_count: 0 } }],
    });
    expect(outcome(await browser.send('GET', `${OVERVIEW}?period=1d`))).toBe('400 invalid_field_value');
    expect(outcome(await ground.browser().send('GET', OVERVIEW))).toBe('401 key_missing');
  });
});
