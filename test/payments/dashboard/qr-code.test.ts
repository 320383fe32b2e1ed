import { afterAll, beforeAll, expect, test } from 'vitest';
import { record } from '../../lab/json.ts';
import { sqliteDatabase, type TestDatabase } from '../../support/databases.ts';
import { type Browser, type DashboardGround, outcome, startDashboardGround } from './dashboard-ground.ts';

const PATH = '/dashboard/qr-code';

let database: TestDatabase;
let ground: DashboardGround;
let browser: Browser;
beforeAll(async () => {
  database = await sqliteDatabase('payments');
  ground = await startDashboardGround(database.options, { publicUrl: 'https://pay.example.com' });
  browser = ground.browser({ 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'pay.example.com' });
  await browser.signIn(ground.member(ground.key(), 'read_only'));
});
afterAll(async () => {
  await ground.close();
  await database.remove();
});

const draw = (text: string) => browser.send('POST', PATH, { body: { text } });

test('a member who may only view can request QR codes of pay pages and of chats', async () => {
  const page = await draw('https://pay.example.com/pay/xK9mQ2aB');
  const chat = await draw('https://t.me/shop_bot?start=abc');

  expect([page.status, chat.status]).toEqual([200, 200]);
  expect(record(page.body)).toMatchObject({ object: 'qr_code', side: 37 });
  expect(record(page.body).path).toMatch(/^(M\d+ \d+h\d+v1h-\d+z)+$/);
  expect(record(chat.body).path).not.toBe(record(page.body).path);
});

test.each([
  'https://evil.example/pay/xK9mQ2aB',
  'https://pay.example.com.evil.example/pay/x',
  'https://pay.example.com/dashboard',
  'https://t.me.evil.example/',
  'javascript:alert(1)',
  '',
])('a QR code of %j is refused', async text => {
  expect(outcome(await draw(text))).toBe('400 invalid_field_value');
});

test('without a sign-in or its CSRF token no QR code is drawn', async () => {
  const body = { text: 'https://pay.example.com/pay/xK9mQ2aB' };

  expect(outcome(await ground.browser().send('POST', PATH, { body }))).toBe('401 key_missing');
  expect(outcome(await browser.send('POST', PATH, { body, csrf: null }))).toBe(
    '403 insufficient_permissions',
  );
});
