import { expect, test } from 'vitest';
import type { Backend, BackendStatus } from '../../src/data/backends/port/backend.ts';
import { readiness } from '../../src/data/readiness.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { serve } from '../http/serve.ts';
import { manualClock } from '../support/manual-clock.ts';

/** States of an index that is at the head, behind, without its node, and empty. */
const AT_HEAD = { ready: true, head: 5_000, lag: 0 };
const behind = (lag: number) => ({ ready: lag <= 10, head: 5_000, lag });
const SILENT = { ready: false, head: 5_000, lag: undefined };
const EMPTY = { ready: false, head: undefined, lag: undefined };

/** A chain with one back end whose state the test sets. */
function chainOf(id: number, kind: Backend['kind'] = 'index') {
  let status: BackendStatus = EMPTY;
  let isBroken = false;
  return {
    id,
    backends: [
      {
        kind,
        status: () => status,
        async probe() {
          if (isBroken) throw new Error('the disk is gone');
        },
      },
    ],
    becomes(next: BackendStatus) {
      status = next;
    },
    breaks() {
      isBroken = true;
    },
  };
}

/** A process with these chains. `ready` is the status of /readyz. */
async function ground(chains: readonly ReturnType<typeof chainOf>[]) {
  let isFilled = true;
  const clock = manualClock();
  const log = createLogger({ level: 'silent' });
  const checks = readiness(chains, { isFilled: () => isFilled, clock, log });
  const plain = plainRouter();
  healthRoutes(plain, { checks: () => checks });
  const served = await serve([], { plain });
  return {
    clock,
    ready: async () => (await fetch(`${served.url}/readyz`)).status,
    fills(filling: boolean) {
      isFilled = !filling;
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  };
}

test('a process with one chain is ready once the chain is filled and has caught up', async () => {
  const one = chainOf(1);
  await using process = await ground([one]);
  const { ready, fills } = process;

  one.becomes(AT_HEAD);
  fills(true);
  const filling = await ready();
  fills(false);
  one.becomes(behind(11));
  const catchingUp = await ready();
  one.becomes(SILENT);
  const silent = await ready();
  one.becomes(AT_HEAD);

  expect([filling, catchingUp, silent, await ready()]).toEqual([503, 503, 503, 200]);
});

test.for([
  ['lags by 100,000 blocks', behind(100_000)],
  ['is without its node', SILENT],
  ['is stalled', { ...behind(100), stalled: true }],
  ['has blocks without parts', { ...AT_HEAD, incompleteBlocks: 1_000 }],
  ['is empty again', EMPTY],
] as const)('a process whose chain %s stays ready', async ([, trouble]) => {
  const one = chainOf(1);
  await using process = await ground([one]);
  one.becomes(AT_HEAD);
  await process.ready();

  one.becomes(trouble);
  process.clock.advance(86_400_000);

  expect(await process.ready()).toBe(200);
});

test('a process that starts while its index is stalled becomes ready', async () => {
  const one = chainOf(1);
  await using process = await ground([one]);

  one.becomes(behind(100));
  const before = await process.ready();
  one.becomes({ ...behind(100), stalled: true });

  expect([before, await process.ready()]).toEqual([503, 200]);
});

test('a process waits a minute for a second chain that catches up, and then serves the first one', async () => {
  const [one, other] = [chainOf(1), chainOf(2)];
  await using process = await ground([one, other]);
  one.becomes(AT_HEAD);
  other.becomes(behind(100));

  const before = await process.ready();
  process.clock.advance(60_000);
  const after = await process.ready();

  expect([before, after]).toEqual([503, 200]);
});

test('a process is unready only while it can read no index', async () => {
  const [one, other] = [chainOf(1), chainOf(2)];
  await using process = await ground([one, other]);
  one.becomes(AT_HEAD);
  other.becomes(AT_HEAD);
  await process.ready();

  one.breaks();
  const withOne = await process.ready();
  other.breaks();

  expect([withOne, await process.ready()]).toEqual([200, 503]);
});

test('an outage of a remote back end does not end readiness', async () => {
  await using process = await ground([chainOf(1, 'blockscout')]);

  expect(await process.ready()).toBe(200);
});
