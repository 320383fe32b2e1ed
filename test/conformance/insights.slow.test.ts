import { afterAll, beforeAll } from 'vitest';
import { type Ground, startGround } from '../data/insights/over-http/ground.ts';
import { indexIn, servedChain, startTestDataService } from '../lab/data-service.ts';
import { INSIGHT_GENERATIONS, type ThirdwebGeneration } from '../lab/thirdweb/generation.ts';
import { startThirdwebEmulator } from '../lab/thirdweb-emulator.ts';
import { postgresDatabase } from '../support/databases.ts';
import { type InsightsSubject, insightsConformance } from './insights-suite.ts';

let ground: Ground;

beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground?.[Symbol.asyncDispose]());

insightsConformance('the index', overIndex);
insightsConformance('the index on PostgreSQL', overPostgres);
for (const generation of INSIGHT_GENERATIONS)
  insightsConformance(`Insight ${generation}`, () => overThirdweb(generation));

async function overIndex(): Promise<InsightsSubject> {
  const { url, chains } = ground;
  return {
    url,
    chains,
    referenceUrl: url,
    backendOf: id => `index-${id}`,
    upstreamRequests: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function overPostgres(): Promise<InsightsSubject> {
  await using stack = new AsyncDisposableStack();
  const { chains, url: referenceUrl } = ground;
  const { options, remove } = await postgresDatabase();
  stack.defer(remove);
  const service = stack.use(
    await startTestDataService([], {
      rateLimitPerMinute: 1e9,
      // The client checks every answer against the contract.
      validateResponses: false,
      chains: chains.map(({ chain }) => ({ ...servedChain(chain, ''), backends: [indexIn(options)] })),
    }),
  );
  const kept = stack.move();
  return {
    url: service.url,
    chains,
    referenceUrl,
    backendOf: id => `index-${id}`,
    upstreamRequests: () => [],
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

async function overThirdweb(generation: ThirdwebGeneration): Promise<InsightsSubject> {
  await using stack = new AsyncDisposableStack();
  const { chains, url: serviceUrl } = ground;
  const emulator = stack.use(await startThirdwebEmulator({ generation, serviceUrl }));
  const service = stack.use(
    await startTestDataService([], {
      rateLimitPerMinute: 1e9,
      chains: chains.map(({ id, chain: { name } }) => ({
        id,
        name,
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        rpcUrls: [],
        abis: [],
        backends: [{ kind: 'insight', url: emulator.url, clientId: undefined }],
      })),
    }),
  );
  const kept = stack.move();
  return {
    url: service.url,
    chains,
    referenceUrl: serviceUrl,
    backendOf: id => `insight-${id}`,
    upstreamRequests: () => emulator.requests,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
