import { randomUUID } from 'node:crypto';
import type { Figure } from '../figure.ts';
import { aLink, CREATION } from '../payments/link.ts';
import { sell } from '../payments/overview.ts';
import { makeShop, NO_NODE } from '../payments/shop.ts';
import { startServer } from '../server-process.ts';
import { stallFigures } from './longest-stall.ts';

const API = '/api/v1';
const LINKS = 1_000;
/** Body of a request that opens a session without a link. */
const { name: _, description: __, metadata: ___, ...SESSION } = CREATION;
const DAY_MS = 86_400_000;

/** Stalls of the payments service over a file with 100,000 sessions and 55,000 transactions. */
export async function paymentsStalls(): Promise<Figure[]> {
  await using shop = await makeShop(owner => Array.from({ length: LINKS }, () => aLink(owner, Date.now())));
  await sell({ file: shop.file, durability: 'normal' }, shop);
  await using server = await startServer('payments', shop.file, NO_NODE, CREATION.token_address);
  const headers = { ...shop.headers, 'Content-Type': 'application/json' };
  const post = (path: string, body: object, more: Readonly<Record<string, string>> = {}) => ({
    method: 'POST',
    path,
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
  });
  const get = (path: string) => () => ({ path: `${API}${path}`, headers });
  const created = async (path: string, body: object) => {
    const request = post(path, body);
    const answer = await fetch(server.url + request.path, request);
    const text = await answer.text();
    if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${text}`);
    return { answer, body: JSON.parse(text) };
  };
  const link = (await created(`${API}/payment-links`, CREATION)).body;
  const session = (await created(`${API}/checkout-sessions`, SESSION)).body;
  const signIn = await created('/dashboard/session', { token: shop.signInToken });
  const dashboard = {
    Cookie: signIn.answer.headers.getSetCookie()[0]?.split(';')[0] ?? '',
    'X-CSRF-Token': String(signIn.body.csrf_token),
  };
  const tenth = new Date(Date.now() - 16 * DAY_MS).toISOString();
  const longUrl = `${server.url}/pay/${'a'.repeat(400)}`;
  const replay = { 'Idempotency-Key': randomUUID() };
  return await stallFigures(server, {
    'a new session': () => post(`${API}/checkout-sessions`, SESSION),
    'a new link': () => post(`${API}/payment-links`, CREATION),
    'a new link, replayed': () => post(`${API}/payment-links`, CREATION, replay),
    'a new API key': () => post(`${API}/api-keys`, { name: 'Bench', permission: 'read' }),
    'a new webhook': round => post(`${API}/webhooks`, { url: `https://a.example/${round}`, events: ['*'] }),
    'overview of 90 days': get('/analytics/overview?period=90d'),
    '100 payments': get('/transactions?limit=100'),
    '100 links': get('/payment-links?limit=100'),
    'export of 10,000 payments': get(`/transactions/export?from=${tenth}`),
    'pay page of a link': () => ({ path: `/pay/${link.short_code}` }),
    'pay page of a session, with its QR codes': () => ({ path: `/pay/s/${session.id}` }),
    'QR code of the dashboard, 400 characters': round =>
      post('/dashboard/qr-code', { text: `${longUrl}${round}` }, dashboard),
  });
}
