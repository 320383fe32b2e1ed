import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { IndexBackendOptions, ServedChain } from '../../src/data/open-chain.ts';
import { type DataService, type DataServiceOptions, startDataService } from '../../src/data/service.ts';
import type { DatabaseOptions } from '../../src/db/open.ts';
import { knownContracts } from '../../src/devnet/activity/artifacts.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { PATIENCE_MS, until } from './until.ts';

/** A chain of a devnet, or one that a test has started, without market and names. */
export type IndexedChain = Omit<EmbeddedChain, 'prices' | 'names' | 'tokens'> &
  Partial<Pick<EmbeddedChain, 'names' | 'tokens'>> &
  Pick<ServedChain, 'prices'>;

export interface TestDataService extends DataService, AsyncDisposable {}

/** Indexes and serves the chains of a devnet. Every answer is checked against the contract. */
export async function startTestDataService(
  chains: readonly IndexedChain[],
  overrides: Partial<DataServiceOptions> = {},
  untilReady = whenAllIsRead,
): Promise<TestDataService> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-data-'));
  const service = await startDataService({
    host: '127.0.0.1',
    port: 0,
    chains: chains.map(chain => servedChain(chain, folder)),
    cache: {
      maxBytes: 64 * 2 ** 20,
      lifetimes: { finalMs: 86_400_000, movingMs: 86_400_000, unsettledMs: 10_000, overrides: {} },
    },
    // Nothing listens there.
    ipfsGateway: 'http://127.0.0.1:9',
    fallback: { timeoutMs: PATIENCE_MS, staggerMs: 400 },
    validateResponses: true,
    pages: true,
    rateLimitPerMinute: 600,
    loggedRequests: 'all',
    trustedProxies: [],
    metrics: createMetrics(),
    clock: systemClock,
    log: createLogger({ level: 'error' }),
    ...overrides,
  });
  const close = async () => {
    await service.close();
    await rm(folder, { recursive: true, force: true });
  };
  await untilReady(service);
  return { ...service, close, [Symbol.asyncDispose]: close };
}

/** An index is complete before the state is read again that needed more gas than a first read has. */
async function whenAllIsRead(service: DataService): Promise<void> {
  await service.whenComplete();
  await until(
    async () => JSON.stringify(await service.status()),
    status => !/"unread_state":[1-9]/.test(status),
  );
}

/** A chain of the devnet as an option of the data service, with its index in `folder`. */
export function servedChain(chain: IndexedChain, folder: string): ServedChain {
  const { id, name, rpcUrl, contracts, prices, names } = chain;
  return {
    id,
    name,
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    rpcUrls: [rpcUrl],
    abis: knownContracts(contracts),
    ...(prices === undefined ? {} : { prices }),
    ...(names === undefined ? {} : { names }),
    backends: [indexIn({ file: join(folder, `index-${id}.db`) })],
  };
}

/** An index with the settings of tests. */
export function indexIn(database: DatabaseOptions): IndexBackendOptions {
  return { kind: 'index', database, fromBlock: 0, pollMs: 50 };
}

/** A chain served by one Blockscout at `url`. */
export function blockscoutChain(id: number, url: string, apiKey?: string): ServedChain {
  return {
    id,
    name: `Chain ${id}`,
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: 12,
    rpcUrls: [],
    abis: [],
    backends: [{ kind: 'blockscout', url, apiKey }],
  };
}
