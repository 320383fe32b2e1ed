import { expect, test } from 'vitest';
import type { Backend, BackendStatus } from '../../src/data/backends/port/backend.ts';
import { readiness } from '../../src/data/chain-status.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { serve } from '../http/serve.ts';

/** States of an index that is at the head, behind, and without its node. */
const AT_HEAD = { ready: true, head: 5_000, lag: 0 };
const behind = (lag: number) => ({ ready: lag <= 10, head: 5_000, lag });
const SILENT = { ready: false, head: 5_000, lag: undefined };

/** A chain with one back end whose state the test sets, and the /readyz answer. */
async function ground(kind: Backend['kind'] = 'index') {
  let status: BackendStatus = { ready: false, head: undefined, lag: undefined };
  let isFilled = true;
  let isBroken = false;
  const backend: Backend = {
    kind,
    name: `${kind}-1`,
    chainId: 1,
    answers: {},
    status: () => status,
    async probe() {
      if (isBroken) throw new Error('the disk is gone');
    },
  };
  const chain = {
    id: 1,
    key: '1',
    name: 'One',
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    backends: [backend],
  };
  const checks = readiness([chain], { isFilled: () => isFilled });
  const plain = plainRouter();
  healthRoutes(plain, { checks: () => checks });
  const served = await serve([], { plain });
  return {
    async after(next: BackendStatus, { filled = true, broken = false } = {}): Promise<number> {
      [status, isFilled, isBroken] = [next, filled, broken];
      return (await fetch(`${served.url}/readyz`)).status;
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

test('an index makes its chain ready once it is filled and has caught up', async () => {
  await using one = await ground();

  const answers = [
    await one.after(AT_HEAD, { filled: false }),
    await one.after(behind(11)),
    await one.after(SILENT),
    await one.after(AT_HEAD),
  ];

  expect(answers).toEqual([503, 503, 503, 200]);
});

test('once ready, a lag below a thousand blocks or a silent node changes nothing', async () => {
  await using one = await ground();

  const answers = [await one.after(AT_HEAD), await one.after(behind(999)), await one.after(SILENT)];

  expect(answers).toEqual([200, 200, 200]);
});

test('a lag of a thousand blocks ends readiness until the index has caught up again', async () => {
  await using one = await ground();

  const answers = [
    await one.after(AT_HEAD),
    await one.after(behind(1_000)),
    await one.after(behind(11)),
    await one.after(behind(10)),
  ];

  expect(answers).toEqual([200, 503, 503, 200]);
});

test('an unreadable index is not ready', async () => {
  await using one = await ground();

  const answers = [await one.after(AT_HEAD), await one.after(AT_HEAD, { broken: true })];

  expect(answers).toEqual([200, 503]);
});

test('an outage of a remote back end does not end readiness', async () => {
  await using one = await ground('blockscout');

  expect(await one.after({ ready: false, head: undefined, lag: undefined })).toBe(200);
});
