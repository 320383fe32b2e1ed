import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import { startDataService } from '../../src/data/service.ts';
import { knownContracts } from '../../src/devnet/activity/artifacts.ts';
import type { EmbeddedChain } from '../../src/devnet/embedded-chain.ts';
import { createMetrics } from '../../src/http/metrics.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { withExamples } from '../contract/attempts.ts';
import { recordingClient } from '../contract/client.ts';
import { type GatheredValues, gatherChains, gatherValues } from '../contract/gathered-values.ts';
import { parsed } from '../contract/judge.ts';
import { needs, realPaths } from '../contract/paths.ts';
import { type Operation, operationsIn } from '../contract/payments/operation.ts';
import type { World } from './fixture.ts';

const CONTRACTS = [explorerContract, insightsContract, dataServiceContract] as const;
const CACHE_BYTES = 8 * 2 ** 20;
const UNLIMITED = 10_000_000;

/** Starts the data service over the index of embedded chains, with targets for the records of these chains. */
export async function dataWorld(chains: readonly EmbeddedChain[]): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-fuzz-data-'));
  const service = await startDataService({
    host: '127.0.0.1',
    port: 0,
    chains: chains.map(({ id, name, rpcUrl, contracts, prices, names }) => ({
      id,
      name,
      native: { symbol: 'ETH', decimals: 18 },
      confirmations: 12,
      rpcUrls: [rpcUrl],
      abis: knownContracts(contracts),
      prices,
      names,
      backends: [
        { kind: 'index' as const, database: { file: join(folder, `${id}.db`) }, fromBlock: 0, pollMs: 250 },
      ],
    })),
    cache: {
      maxBytes: CACHE_BYTES,
      lifetimes: { finalMs: 86_400_000, movingMs: 15_000, unsettledMs: 10_000, overrides: {} },
    },
    ipfsGateway: 'http://127.0.0.1:9',
    fallback: { timeoutMs: 10_000, staggerMs: 400 },
    validateResponses: true,
    pages: false,
    rateLimitPerMinute: UNLIMITED,
    loggedRequests: 'all',
    trustedProxies: [],
    metrics: createMetrics(),
    clock: systemClock,
    log: createLogger({ level: 'silent' }),
  });
  await service.whenComplete();
  const targets = await realTargets(service.url);
  return {
    url: service.url,
    contracts: CONTRACTS,
    isPayments: false,
    secrets: [folder, ...chains.map(({ rpcUrl }) => new URL(rpcUrl).host)],
    grounds: CONTRACTS.map(contract => ({
      document: contract.document,
      operations: operationsIn<unknown>(contract),
      targets: ({ id }: Operation) => targets.get(id) ?? [],
      body: () => undefined,
      key: undefined,
    })),
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Targets of every operation, with values from answers, or from its examples when the chains have none. */
async function realTargets(url: string): Promise<Map<string, readonly string[]>> {
  const client = recordingClient({ baseUrl: url });
  const found: GatheredValues = new Map();
  const targets = new Map<string, readonly string[]>();
  gatherChains(found, parsed((await client.send('GET', '/chains')).text)?.value);
  for (const contract of CONTRACTS) {
    const operations = operationsIn<unknown>(contract);
    for (const operation of operations.toSorted((a, b) => needs(a.path) - needs(b.path))) {
      const real = realPaths(found, operation.path);
      targets.set(operation.id, real.length > 0 ? real : [withExamples(contract.document, operation)]);
      for (const target of real.slice(0, 3)) {
        const { status, text } = await client.send('GET', target);
        const body = parsed(text)?.value;
        if (status === 200 && body !== undefined) gatherValues(found, body);
      }
    }
  }
  await client.close();
  return targets;
}
