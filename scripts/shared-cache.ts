/**
 * Runs a real shared cache (Varnish, Debian's package `varnish`) in front of the data service, and verifies that it
 * keeps an answer for exactly the rest of its lifetime:
 *   npm run shared-cache
 * Exits with 1 when it keeps the answer for less or for more, and with 2 when Varnish is not installed.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type DataService, startDataService } from '../src/data/service.ts';
import { startDevnet } from '../src/devnet/start-devnet.ts';
import { createMetrics } from '../src/http/metrics.ts';
import { systemClock } from '../src/lib/clock.ts';
import { createLogger } from '../src/lib/logger.ts';
import { freePort } from '../test/lab/loopback-server.ts';

/** Lifetime of a final record here. At the shared cache's first request, the answer is past half of it. */
const LIFETIME_MS = 8_000;
const FIRST_ASKED_MS = 5_000;
const START_MS = 20_000;
/** A block with enough confirmations to be final. */
const PATH = '/explorer/blocks/1';

const log = createLogger({ level: 'warn' });
if (spawnSync('varnishd', ['-V']).error === undefined) process.exitCode = await run();
else {
  console.error('Varnish is not installed: apt-get install varnish');
  process.exitCode = 2;
}

async function run(): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-shared-cache-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const service = await startService(folder, stack);
  const origin = `${service.url}${PATH}`;
  const cached = `${await startVarnish(folder, service.url, stack)}${PATH}`;

  const madeAt = performance.now();
  await fetch(origin);
  await setTimeout(FIRST_ASKED_MS);
  const facts = {
    'asks when it has nothing': !(await isFromVarnish(cached)),
    'keeps what is past half of its lifetime': await isFromVarnish(cached),
    'asks again when the lifetime is over': await isAskedAgain(),
  };
  for (const [fact, holds] of Object.entries(facts)) console.log(`${holds ? 'yes' : 'NO '}  ${fact}`);
  return Object.values(facts).every(holds => holds) ? 0 : 1;

  async function isAskedAgain(): Promise<boolean> {
    await setTimeout(Math.max(0, madeAt + LIFETIME_MS + 1_500 - performance.now()));
    return !(await isFromVarnish(cached));
  }
}

/**
 * True for a cached answer of Varnish: its `X-Varnish` then has two ids, of this request and of the one that stored it.
 */
async function isFromVarnish(url: string): Promise<boolean> {
  const answer = await fetch(url);
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}`);
  return (answer.headers.get('x-varnish') ?? '').includes(' ');
}

async function startService(folder: string, stack: AsyncDisposableStack): Promise<DataService> {
  const devnet = await startDevnet({
    folder,
    isFolderDisposable: true,
    chains: 1,
    blocks: 40,
    trickleMs: 0,
    seed: 1,
    clock: systemClock,
    log,
  });
  stack.defer(() => devnet.stop());
  await devnet.filled;
  const service = await startDataService({
    host: '127.0.0.1',
    port: 0,
    chains: devnet.chains.map(({ id, name, rpcUrl }) => ({
      id,
      name,
      native: { symbol: 'ETH', decimals: 18 },
      confirmations: 12,
      rpcUrls: [rpcUrl],
      abis: [],
      backends: [
        { kind: 'index' as const, database: { file: join(folder, 'index.db') }, fromBlock: 0, pollMs: 250 },
      ],
    })),
    cache: {
      maxBytes: 2 ** 24,
      lifetimes: { finalMs: LIFETIME_MS, movingMs: LIFETIME_MS, unsettledMs: 1_000, overrides: {} },
    },
    ipfsGateway: 'http://127.0.0.1:9',
    fallback: { timeoutMs: 10_000, staggerMs: 400 },
    validateResponses: true,
    pages: false,
    rateLimitPerMinute: 600,
    loggedRequests: 'all',
    trustedProxies: [],
    metrics: createMetrics(),
    clock: systemClock,
    log,
  });
  stack.defer(() => service.close());
  await service.whenComplete();
  return service;
}

/** Starts a Varnish with its built-in rules in front of `origin` on the loopback interface. Returns its address. */
async function startVarnish(folder: string, origin: string, stack: AsyncDisposableStack): Promise<string> {
  const port = await freePort();
  const child = spawn(
    'varnishd',
    // Without grace, which would serve expired answers.
    ['-F', '-n', join(folder, 'varnish'), '-a', `127.0.0.1:${port}`, '-b', new URL(origin).host].concat([
      '-s',
      'malloc,16m',
      '-p',
      'default_grace=0',
      '-p',
      'default_keep=0',
    ]),
    { stdio: 'ignore' },
  );
  stack.defer(() => ended(child));
  const url = `http://127.0.0.1:${port}`;
  const until = performance.now() + START_MS;
  while (performance.now() < until && child.exitCode === null) {
    if (
      await fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return url;
    await setTimeout(200);
  }
  throw new Error('Varnish did not start');
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise(resolve => child.once('exit', resolve));
  child.kill('SIGTERM');
  await gone;
}
