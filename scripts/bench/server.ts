/**
 * A server in a separate process, so that its CPU time can be measured. The first argument is the mode:
 * - `node`: sends a number of bytes from bare node:http
 * - `bare`: sends them from a bare Koa app
 * - `contract`: sends them through the contract mount, with several copies of the explorer contract
 * - `service`: the whole data service on one embedded chain, with or without an access log
 * - `live`: the same without an access log, on a chain with a new transaction every second
 * - `uncached`: the data service on the chains of the contracts' examples, without a cache
 * - `index`: serves an index file or an index in PostgreSQL, with a cache of a given size and no node
 * - `hand-index`: reads an index file by hand-written SQL
 * - `payments`: the whole payments service on a file or PostgreSQL, watching one token on a node's chain
 * - `bare-payments`: serves links of one organization from a file, in a bare Koa app
 * - `canned-chain`: the node of a simulated chain
 * - `large-chain`: the node of a chain with blocks as large as mainnet's
 * Reports its address over IPC, and on request its CPU time and the work of its event loop. Ends when its parent
 * disconnects or is killed.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import type { Contract } from '../../src/contract/contracts/contract.ts';
import { child, operationsOf } from '../../src/contract/contracts/document.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import type { OperationRow } from '../../src/contract/contracts/operations.ts';
import { mount } from '../../src/contract/mount/mount.ts';
import { startDataService } from '../../src/data/service.ts';
import { startDevnet } from '../../src/devnet/start-devnet.ts';
import type { LoggedRequests } from '../../src/http/app/access-log.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { represent } from '../../src/http/representation.ts';
import { listen } from '../../src/http/server/server.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { serveHandIndex } from './growth/hand-index.ts';
import { serveIndex } from './growth/serve-index.ts';
import { serveLargeChain } from './large-blocks/large-chain.ts';
import { serveBarePayments } from './payments/bare-server.ts';
import { servePayments } from './payments/serve.ts';
import { watchEventLoop } from './stalls/event-loop.ts';
import { serveExamples } from './stalls/serve-examples.ts';
import { serveCannedChain } from './watcher/canned-chain.ts';

/** Operation without parameters and with an untyped answer. */
interface AnyOperation {
  parameters: Record<string, never>;
  responses: { 200: { content: { 'application/json': unknown } } };
}

const log = createLogger({ level: 'info' });

/** Minimal Node server: sends prepared bytes with their length and ETag, or 304 to a client that has them. */
async function node(bytes: number) {
  const body = jsonOf(bytes);
  const ETag = '"of-the-bench"';
  const server = createServer((request, response) => {
    if (request.headers['if-none-match'] === ETag) response.writeHead(304, { ETag }).end();
    else
      response
        .writeHead(200, {
          'Content-Type': 'application/json; charset=utf-8',
          'Content-Length': body.length,
          ETag,
        })
        .end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function bare(bytes: number) {
  const body = jsonOf(bytes);
  const app = new Koa();
  app.use(ctx => {
    ctx.set('Content-Type', 'application/json; charset=utf-8');
    ctx.body = body;
  });
  return listen({ app, host: '127.0.0.1', port: 0, log });
}

async function throughContract(bytes: number, copies: number) {
  const representation = await represent(jsonOf(bytes));
  const contract = multiplied(copies);
  const handler = async () => ({ status: 200 as const, encoded: { representation } });
  const handlers: Record<string, typeof handler> = Object.fromEntries(
    Object.keys(contract.table).map(id => [id, handler]),
  );
  const app = new Koa();
  app.use(await mount({ contract, handlers, validateResponses: false }));
  return listen({ app, host: '127.0.0.1', port: 0, log });
}

/** Several copies of the explorer contract, each below its own path. */
function multiplied(copies: number): Contract<Record<string, AnyOperation>> {
  const { document } = explorerContract;
  const table: Record<string, OperationRow> = { ...explorerContract.table };
  const paths = { ...child(document, 'paths') };
  for (let copy = 1; copy < copies; copy++) {
    for (const { path, method, operation } of operationsOf(document)) {
      const id = `${operation.operationId}${copy}`;
      const of = Object.values<OperationRow>(explorerContract.table).find(
        row => row.id === operation.operationId,
      );
      if (of !== undefined) table[id] = { ...of, id, path: `/copy${copy}${path}` };
      paths[`/copy${copy}${path}`] = { [method]: { ...operation, operationId: id } };
    }
  }
  return { ...explorerContract, name: 'bench', document: { ...document, paths }, table };
}

async function service(loggedRequests: LoggedRequests, trickleMs = 0) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const devnet = await startDevnet({
    folder,
    isFolderDisposable: true,
    chains: 1,
    blocks: 120,
    trickleMs,
    seed: 1,
    clock: systemClock,
    log: createLogger({ level: 'warn' }),
  });
  await devnet.filled;
  const running = await startDataService({
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
        {
          kind: 'index' as const,
          database: { file: join(folder, `index-${id}.db`) },
          fromBlock: 0,
          pollMs: 250,
        },
      ],
    })),
    cache: {
      maxBytes: 2 ** 28,
      lifetimes: { finalMs: 86_400_000, movingMs: 86_400_000, unsettledMs: 10_000, overrides: {} },
    },
    // No gateway listens there.
    ipfsGateway: 'http://127.0.0.1:9',
    fallback: { timeoutMs: 10_000, staggerMs: 400 },
    validateResponses: false,
    pages: false,
    loggedRequests,
    rateLimitPerMinute: 600,
    trustedProxies: [],
    metrics: createMetrics(),
    clock: systemClock,
    log,
  });
  await running.whenComplete();
  return {
    url: running.url,
    close: async () => {
      await running.close();
      await devnet.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** JSON body of about `bytes` bytes. */
function jsonOf(bytes: number): Buffer {
  return Buffer.from(JSON.stringify({ items: 'x'.repeat(Math.max(0, bytes - 12)) }));
}

/** Serves an index, in a file or at the URL of a PostgreSQL, without a node. Requests must not need one. */
async function index(place: string, blocks: number, cacheBytes: number) {
  const served = await serveIndex({
    database: place.startsWith('postgres') ? { kind: 'postgres', url: place } : { file: place },
    chainId: 31_337,
    nodeUrl: 'http://127.0.0.1:9',
    blocks,
    cacheBytes,
  });
  return { url: served.url, close: () => served[Symbol.asyncDispose]() };
}

function start([mode, first = '2000', second = '1', third = '1']: readonly string[]) {
  if (mode === 'node') return node(Number(first));
  if (mode === 'service') return service(first === 'none' ? 'none' : 'all');
  if (mode === 'live') return service('none', 1_000);
  if (mode === 'uncached') return serveExamples();
  if (mode === 'contract') return throughContract(Number(first), Number(second));
  if (mode === 'index') return index(first, Number(second), Number(third));
  if (mode === 'hand-index') return serveHandIndex(first);
  if (mode === 'payments') return servePayments({ database: first, rpcUrl: second, token: third, log });
  if (mode === 'bare-payments') return serveBarePayments({ file: first, organizationId: second, log });
  if (mode === 'canned-chain') return serveCannedChain(Number(first));
  if (mode === 'large-chain') return serveLargeChain(Number(first));
  return bare(Number(first));
}

const server = await start(process.argv.slice(2));
let eventLoop: ReturnType<typeof watchEventLoop> | undefined;
process.on('message', message => {
  if (message === 'loop') {
    eventLoop ??= watchEventLoop();
    void eventLoop().then(loop => process.send?.({ loop }));
  } else if (message === 'memory') {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.send?.({ memory: heapUsed + external });
  } else if (message === 'cpu') process.send?.({ cpu: process.cpuUsage() });
});
process.once('disconnect', () => void server.close().then(() => process.exit()));
process.send?.({ url: server.url });
