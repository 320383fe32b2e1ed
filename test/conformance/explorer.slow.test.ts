import { afterAll, beforeAll } from 'vitest';
import { GENERATIONS, type Generation } from '../lab/blockscout/generation.ts';
import { startBlockscoutEmulator } from '../lab/blockscout-emulator.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { isWholeRun } from '../support/whole-run.ts';
import { explorerConformance } from './explorer-suite.ts';
import { type Ground, startGround } from './ground.ts';
import { BLOCKSCOUT, INDEX } from './limits.ts';
import type { Subject } from './suite/bench.ts';

const CONFIRMATIONS = 12;
let ground: Ground;

beforeAll(async () => {
  ground = await startGround();
});
afterAll(() => ground?.[Symbol.asyncDispose]());

explorerConformance('the index', () => overIndex(ground.indexUrl), INDEX);
if (isWholeRun)
  explorerConformance('the index on PostgreSQL', () => overIndex(ground.postgresIndexUrl), INDEX);
// The newest is the one that public instances run.
for (const generation of isWholeRun ? GENERATIONS : (['v12'] as const))
  explorerConformance(`Blockscout ${generation}`, () => overBlockscout(generation), BLOCKSCOUT[generation]);

async function overIndex(url: string): Promise<Subject> {
  return {
    ...common(),
    url,
    backend: `index-${ground.chain.id}`,
    upstreamRequests: () => [],
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function overBlockscout(generation: Generation): Promise<Subject> {
  await using stack = new AsyncDisposableStack();
  const emulator = stack.use(
    await startBlockscoutEmulator({ generation, serviceUrl: ground.indexUrl, abis: ground.abis }),
  );
  const { id, name } = ground.chain;
  const service = stack.use(
    await startTestDataService([], {
      rateLimitPerMinute: 1e9,
      validateResponses: false,
      chains: [
        {
          id,
          name,
          native: { symbol: 'ETH', decimals: 18 },
          confirmations: CONFIRMATIONS,
          rpcUrls: [],
          abis: [],
          backends: [{ kind: 'blockscout', url: emulator.url, apiKey: undefined }],
        },
      ],
    }),
  );
  const kept = stack.move();
  return {
    ...common(),
    url: service.url,
    backend: `blockscout-${id}`,
    upstreamRequests: () => emulator.requests,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function common() {
  const { chain, indexUrl, places } = ground;
  return { chainId: chain.id, confirmations: CONFIRMATIONS, referenceUrl: indexUrl, places };
}
