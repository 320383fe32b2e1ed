import type { Middleware } from 'koa';
import { expect, test } from 'vitest';
import { recordingClient } from '../../scripts/contract/client.ts';
import { harOf } from '../../scripts/contract/har.ts';
import { runContracts } from '../../scripts/contract/run.ts';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { type ListOperations, listContract } from '../support/list-contract.ts';
import { serveRoutes } from '../support/serve-routes.ts';

const serving = await mount<ListOperations>({
  contract: listContract,
  handlers: {
    listNotes: async ({ query }) => ({ status: 200, body: { items: [{ size: query.size ?? 1 }] } }),
  },
  validateResponses: true,
});

/** Findings at a correct server whose answers go through `alter`. */
async function findingsWith(alter: Middleware) {
  await using server = await serveRoutes(alter, serving);
  const client = recordingClient({ baseUrl: server.url, key: 'secret-key-123' });
  const contract: Contract<unknown> = listContract;
  const { findings } = await runContracts([contract], client);
  await client.close();
  return { findings, exchanges: client.exchanges };
}

/** Replaces the body of successful answers. */
const body =
  (change: (text: string) => string): Middleware =>
  async (ctx, next) => {
    await next();
    if (ctx.method === 'GET' && ctx.status === 200) {
      ctx.body = Buffer.from(change(String(ctx.body)));
      ctx.type = 'application/json';
    }
  };

test('a correct server has no findings', async () => {
  const { findings, exchanges } = await findingsWith((_, next) => next());

  expect(findings).toEqual([]);
  expect(exchanges.length).toBeGreaterThan(30);
});

test.each<[string, Middleware, RegExp]>([
  ['a wrong type', body(() => '{"items":[{"size":"1"}]}'), /\/items\/0\/size must be an integer/],
  ['a missing field', body(() => '{"items":[{}]}'), /\/items\/0 is required.*"size"/],
  [
    'a field that is not in the contract',
    body(() => '{"items":[{"size":1,"x":1}]}'),
    /additionalProperty":"x/,
  ],
  ['a body that is not JSON', body(text => text.slice(0, -1)), /body is not JSON/],
  [
    'a content type that is not JSON',
    async (ctx, next) => {
      await next();
      if (ctx.method === 'GET') ctx.type = 'text/plain';
    },
    /not JSON/,
  ],
  [
    'an undeclared status',
    async (ctx, next) => {
      await next();
      if (ctx.status === 200) ctx.status = 203;
    },
    /203: undeclared status/,
  ],
  [
    'a 500 on hostile input',
    async (ctx, next) => {
      if (ctx.querystring.includes('OR')) throw new Error('injected');
      await next();
    },
    /→ 500: unexpected status/,
  ],
  [
    'an error for valid input',
    async (ctx, next) => {
      if (ctx.querystring === 'size=5') ctx.querystring = 'size=11';
      await next();
    },
    /size=5 → 400: unexpected status/,
  ],
  [
    'accepted bad input',
    async (ctx, next) => {
      if (ctx.querystring.startsWith('size=1e3')) ctx.querystring = '';
      await next();
    },
    /size=1e3 → 200: unexpected status/,
  ],
  [
    'an accepted duplicate parameter',
    async (ctx, next) => {
      if (/size=.*&size=/.test(ctx.querystring)) ctx.querystring = '';
      await next();
    },
    /&size=\d+ → 200: unexpected status/,
  ],
  [
    'a list that is refused when it is repeated',
    async (ctx, next) => {
      if (ctx.querystring.startsWith('kinds=a&kinds=b')) ctx.querystring = 'size=11';
      await next();
    },
    /kinds=a&kinds=b&kinds=a → 400: unexpected status/,
  ],
  [
    'a list that is refused with commas',
    async (ctx, next) => {
      if (ctx.querystring.includes('a,b')) ctx.querystring = 'size=11';
      await next();
    },
    /kinds=a,b,a → 400: unexpected status/,
  ],
  [
    'an accepted comma-separated list beyond its maximum',
    async (ctx, next) => {
      if (ctx.querystring.includes('a,a,a,a')) ctx.querystring = '';
      await next();
    },
    /kinds=a,a,a,a → 200: unexpected status/,
  ],
  [
    'a 405 without Allow',
    async (ctx, next) => {
      await next().catch((error: unknown) => {
        if (ctx.method === 'GET' || ctx.method === 'HEAD') throw error;
        ctx.status = 405;
        ctx.body = { message: 'no' };
      });
    },
    /405: no Allow/,
  ],
  [
    'an accepted undeclared method',
    async (ctx, next) => {
      if (ctx.method === 'DELETE') ctx.method = 'GET';
      await next();
    },
    /DELETE .* → 200: unexpected status/,
  ],
  [
    'a HEAD that differs from GET',
    async (ctx, next) => {
      if (ctx.method === 'HEAD') ctx.status = 204;
      else await next();
    },
    /HEAD \/notes → 204/,
  ],
  [
    'a missing declared header',
    async (ctx, next) => {
      await next();
      ctx.remove('ETag');
    },
    /200: no ETag/,
  ],
  [
    'a connection that breaks',
    async (ctx, next) => {
      if (ctx.querystring.includes('undeclared')) ctx.req.socket.destroy();
      await next();
    },
    /no answer/,
  ],
])('%s is found', async (_name, alter, finding) => {
  const { findings } = await findingsWith(alter);

  expect(findings).toContainEqual(expect.stringMatching(finding));
});

test('the recorded traffic is an HTTP archive without the key', async () => {
  const { exchanges } = await findingsWith((_, next) => next());

  const text = JSON.stringify(harOf(exchanges));

  expect(JSON.parse(text)).toMatchObject({
    log: {
      version: '1.2',
      entries: expect.arrayContaining([expect.objectContaining({ time: expect.any(Number) })]),
    },
  });
  expect(text).not.toContain('secret-key-123');
});
