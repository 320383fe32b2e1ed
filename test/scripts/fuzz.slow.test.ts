import type { Middleware } from 'koa';
import { expect, test } from 'vitest';
import { operationsIn } from '../../scripts/contract/payments/operation.ts';
import { dataWorld } from '../../scripts/fuzz/data-fixture.ts';
import { paymentsWorld } from '../../scripts/fuzz/payments-fixture.ts';
import { fuzz } from '../../scripts/fuzz/run.ts';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { paymentsContract } from '../../src/contract/contracts/payments.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { startTestDevnet } from '../lab/devnet.ts';
import { type ListOperations, listContract } from '../support/list-contract.ts';
import { script } from '../support/script.ts';
import { serveRoutes } from '../support/serve-routes.ts';

test('5,000 mutated requests over every operation cause no failure, no other form of error and no leaked detail', {
  timeout: 180_000,
}, async () => {
  await using devnet = await startTestDevnet({ chains: 2 });
  const worlds = [await dataWorld(devnet.chains), await paymentsWorld(devnet.chains)];

  const { sent, counts, findings } = await fuzz(worlds, { seed: 1, requests: 5_000, deadlineMs: 150_000 });
  for (const world of worlds) await world.close();

  expect(findings).toEqual([]);
  expect(sent).toBe(5_000);
  const ids = [explorerContract, insightsContract, dataServiceContract, paymentsContract].flatMap(
    ({ table }) => Object.keys(table),
  );
  expect([...counts.keys()].toSorted()).toEqual(ids.toSorted());
});

test('a run whose services do not start says why and exits with 1', async () => {
  const { code, err } = await script('fuzz.ts', { env: { TMPDIR: '/nowhere' } })('--requests', '1');

  expect(err).toContain("mkdtemp '/nowhere/");
  expect(code).toBe(1);
});

const serving = await mount<ListOperations>({
  contract: listContract,
  handlers: { listNotes: async () => ({ status: 200, body: { items: [{ size: 1 }] } }) },
  validateResponses: true,
});

/** Findings at a correct server whose answers go through `alter`. */
async function findingsWith(alter: Middleware): Promise<readonly string[]> {
  await using server = await serveRoutes(alter, serving);
  const contract: Contract<unknown> = listContract;
  const ground = {
    document: contract.document,
    operations: operationsIn(contract),
    targets: () => ['/notes?size=5'],
    body: () => undefined,
    key: undefined,
  };
  const { url } = server;
  const world = { url, contracts: [contract], isPayments: false, secrets: ['s3cr3t'], grounds: [ground] };
  const report = await fuzz([{ ...world, close: server.close }], {
    seed: 1,
    requests: 200,
    deadlineMs: 20_000,
  });
  return report.findings;
}

/** Answers with this text where the server refuses the query. */
const refusing =
  (text: string): Middleware =>
  async (ctx, next) => {
    await next().catch(() => {
      ctx.status = 400;
      ctx.type = 'application/json';
      ctx.set('Cache-Control', 'no-store');
      ctx.body = Buffer.from(text);
    });
  };

test('a correct server has no findings', async () => {
  expect(await findingsWith((_, next) => next())).toEqual([]);
});

test.each<[string, Middleware, RegExp]>([
  ['a stack', refusing('{"message":"no\\n    at list (/srv/list.js:1:1)"}'), /tells/],
  ['a statement', refusing('{"message":"select * from notes"}'), /tells/],
  ['the address of a node', refusing('{"message":"127.0.0.1:8545 refused"}'), /tells/],
  ['a secret', refusing('{"message":"s3cr3t"}'), /tells a secret/],
  ['another form of error', refusing('{"error":"no"}'), /"message"|its error has error/],
  ['an error that is not JSON', refusing('no'), /body is not JSON|its error has no object/],
  [
    'a failure',
    (ctx, next) => {
      if (ctx.querystring.includes('%')) throw new Error('injected');
      return next();
    },
    /^500: /,
  ],
  [
    'a connection that breaks',
    (ctx, next) => {
      if (ctx.querystring.includes('%')) ctx.req.socket.destroy();
      return next();
    },
    /no answer/,
  ],
])('%s is found', async (_name, alter, finding) => {
  expect(await findingsWith(alter)).toContainEqual(expect.stringMatching(finding));
});
