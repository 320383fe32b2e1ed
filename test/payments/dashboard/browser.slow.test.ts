import { createServer } from 'node:http';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { list, record, text } from '../../lab/json.ts';
import { loopbackPort } from '../../lab/loopback-server.ts';
import { until } from '../../lab/until.ts';
import { test as base } from '../../support/browser.ts';
import { sqliteDatabase } from '../../support/databases.ts';
import { API, type DashboardGround, SESSION, startDashboardGround } from './dashboard-ground.ts';

const LINKS = `${API}/payment-links`;
const LINK = { name: 'Field notebooks', amount: '7' };

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('ground', async ({}, { onCleanup }): Promise<DashboardGround> => {
    const database = await sqliteDatabase('payments');
    const ground = await startDashboardGround(database.options);
    onCleanup(async () => {
      await ground.close();
      await database.remove();
    });
    return ground;
  })
  /** Another origin of the same site: browsers ignore the port when they compare sites. */
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('sibling', async ({}, { onCleanup }): Promise<string> => {
    const server = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Sibling</title>');
    });
    const port = await loopbackPort(server);
    onCleanup(() => void server.close());
    return `http://127.0.0.1:${port}/`;
  })
  .extend('page', async ({ browser }, { onCleanup }): Promise<Page> => {
    const context = await browser.newContext();
    onCleanup(() => context.close());
    return context.newPage();
  });

/** Sends a request from a page; returns the part of the answer that the page's script sees. */
function fromPage(page: Page, url: string, init: RequestInit = {}) {
  return page.evaluate(
    async ([address, options]) => {
      try {
        const answer = await fetch(address, options);
        return { status: answer.status, body: await answer.text() };
      } catch {
        return { status: 0, body: '' };
      }
    },
    [url, { credentials: 'include', ...init }] as const,
  );
}

function post(body: object, headers: Readonly<Record<string, string>> = {}): RequestInit {
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json', ...headers },
  };
}

async function signedIn(
  page: Page,
  { service, key, member }: DashboardGround,
): Promise<{ secret: string; csrf: string }> {
  const secret = key();
  await page.goto(`${service.url}/healthz`);
  const { status, body } = await fromPage(page, SESSION, post(member(secret)));
  expect(status).toBe(201);
  return { secret, csrf: text(record(JSON.parse(body)).csrf_token) };
}

test('a browser hides the cookie from scripts and sends it with requests of our pages', async ({
  ground,
  page,
}) => {
  const { csrf } = await signedIn(page, ground);

  const created = await fromPage(page, LINKS, post(LINK, { 'X-CSRF-Token': csrf }));
  const read = await fromPage(page, LINKS);

  const [cookie, ...more] = await page.context().cookies();
  expect([created.status, read.status]).toEqual([201, 200]);
  expect(list(record(JSON.parse(read.body)).data)).toHaveLength(1);
  expect(cookie).toMatchObject({ path: '/dashboard', httpOnly: true, sameSite: 'Strict', secure: false });
  expect(more).toEqual([]);
  expect(await page.evaluate('document.cookie')).toBe('');
});

test('a page of a same-site origin can neither read nor write, although the browser sends the cookie', async ({
  ground,
  sibling,
  page,
}) => {
  const { csrf, secret } = await signedIn(page, ground);
  await page.goto(sibling);
  const at = (path: string) => ground.service.url + path;

  const answers = [
    await fromPage(page, at(LINKS)),
    await fromPage(page, at(SESSION)),
    await fromPage(page, at(LINKS), post(LINK)),
    await fromPage(page, at(LINKS), post(LINK, { 'X-CSRF-Token': csrf })),
    await fromPage(page, at(SESSION), { method: 'DELETE' }),
  ];
  // Without a preflight, like a form.
  await fromPage(page, at(LINKS), { method: 'POST', body: JSON.stringify(LINK), mode: 'no-cors' });
  await fromPage(page, at(SESSION), {
    method: 'POST',
    body: JSON.stringify(ground.member(secret)),
    mode: 'no-cors',
  });

  await page.goto(at('/healthz'));
  const links = await fromPage(page, LINKS);
  expect(answers.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
  expect(links.status).toBe(200);
  expect(list(record(JSON.parse(links.body)).data)).toEqual([]);
  // Without the cookie the first answer would be a 401.
  const refused = await until(
    async () => ground.lines.filter(line => line.includes('"status":403')),
    lines => lines.length === 2,
  );
  expect(refused).toHaveLength(2);
});
