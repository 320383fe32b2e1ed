import { expect, test } from 'vitest';
import type { Backend, BackendStatus } from '../../src/data/backends/port/backend.ts';
import { readiness } from '../../src/data/readiness.ts';
import { healthRoutes } from '../../src/http/health.ts';
import { plainRouter } from '../../src/http/plain-router.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { serve } from '../http/serve.ts';
import { record } from '../lab/json.ts';
import { manualClock } from '../support/manual-clock.ts';

/** States of an index that is at the head, behind, without its node, and empty. */
const AT_HEAD = { ready: true, head: 5_000, lag: 0 };
const behind = (lag: number) => ({ ready: lag <= 10, head: 5_000, lag, lagSeconds: lag * 12 });
const SILENT = { ready: false, head: 5_000, lag: undefined };
const EMPTY = { ready: false, head: undefined, lag: undefined };

/** A chain with one back end whose state the test sets. */
function chainOf(
  id: number,
  {
    kind = 'index',
    isShared = false,
    status: first = EMPTY,
  }: Partial<Pick<Backend, 'kind' | 'isShared'>> & { status?: BackendStatus } = {},
) {
  let status = first;
  let isBroken = false;
  return {
    id,
    backends: [
      {
        kind,
        isShared,
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
    mends() {
      isBroken = false;
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
    /** Words about each chain in the body of /readyz. */
    async words() {
      const { checks } = record(await (await fetch(`${served.url}/readyz`)).json());
      return Object.values(record(checks)).map(check => record(check).detail);
    },
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

test.for([
  ['is empty, as a new one in the file', EMPTY],
  ['is being filled', behind(1_000_000)],
] as const)('a second chain that %s does not delay the first one', async ([, state]) => {
  const [one, other] = [chainOf(1), chainOf(2)];
  await using process = await ground([one, other]);

  one.becomes(AT_HEAD);
  other.becomes(state);

  expect(await process.ready()).toBe(200);
});

test.for([
  ['lags by 1,100 blocks', behind(1_100)],
  ['is without its node', SILENT],
] as const)(
  'a process that starts with a stored index that %s is ready ten seconds later',
  async ([, status]) => {
    await using process = await ground([chainOf(1, { status })]);

    const before = await process.ready();
    process.clock.advance(10_000);

    expect([before, await process.ready()]).toEqual([503, 200]);
  },
);

test('a process that starts with a stored index is ready once it has caught up', async () => {
  const one = chainOf(1, { status: behind(11) });
  await using process = await ground([one]);

  const before = await process.ready();
  one.becomes(AT_HEAD);

  expect([before, await process.ready()]).toEqual([503, 200]);
});

test('the body says of each chain how far it is, in blocks and in seconds', async () => {
  const remote = chainOf(6, { kind: 'blockscout' });
  const [one, other, silent, stored, away] = [
    chainOf(1),
    chainOf(2),
    chainOf(3),
    chainOf(4, { status: behind(40) }),
    chainOf(5, { isShared: true, status: AT_HEAD }),
  ];
  await using process = await ground([one, other, silent, stored, away, remote]);
  one.becomes(AT_HEAD);
  silent.becomes(AT_HEAD);
  process.clock.advance(10_000);
  await process.ready();
  silent.becomes({ ...SILENT, lagSeconds: 90, stalled: true });
  away.breaks();

  expect(await process.words()).toEqual([
    'at block 5000',
    'nothing is indexed yet, being filled',
    'at block 5000, an unknown number of blocks and 90 s behind, stalled',
    'at block 5000, 40 blocks and 480 s behind, not caught up since the start',
    'at block 5000, its database cannot be reached',
    'served by other services',
  ]);
});

test('a process is unready while it can read no index of its own', async () => {
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

test('a database that other processes use as well takes no process away, but must be there at the start', async () => {
  const one = chainOf(1, { isShared: true, status: AT_HEAD });
  await using process = await ground([one]);
  one.breaks();
  const atStart = await process.ready();
  one.mends();
  const before = await process.ready();
  one.breaks();

  expect([atStart, before, await process.ready()]).toEqual([503, 200, 200]);
});

test('an outage of a remote back end does not end readiness', async () => {
  await using process = await ground([chainOf(1, { kind: 'blockscout' })]);

  expect(await process.ready()).toBe(200);
});
