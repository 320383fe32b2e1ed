import { dataServiceContract } from '../../src/contract/contracts/data-service.ts';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { insightsContract } from '../../src/contract/contracts/insights.ts';
import type { DatabaseOptions } from '../../src/db/open.ts';
import { knownContracts } from '../../src/devnet/activity/artifacts.ts';
import { GENERATIONS, type Generation } from '../../test/lab/blockscout/generation.ts';
import { startBlockscoutEmulator } from '../../test/lab/blockscout-emulator.ts';
import { indexIn, servedChain, startTestDataService } from '../../test/lab/data-service.ts';
import { startTestDevnet, type TestDevnet } from '../../test/lab/devnet.ts';
import { startOwnPostgres } from '../../test/lab/own-postgres.ts';
import { SHOP, startTestPayments } from '../../test/lab/payments-service.ts';
import { INSIGHT_GENERATIONS, type ThirdwebGeneration } from '../../test/lab/thirdweb/generation.ts';
import { startThirdwebEmulator } from '../../test/lab/thirdweb-emulator.ts';
import { watchedChain } from '../examples/example-shop.ts';
import { recordingClient } from './client.ts';
import { runPayments } from './payments/run.ts';
import { type ContractReport, runContracts } from './run.ts';

/** Result of a run over one set-up, with the number of requests. */
export interface GroundReport extends ContractReport {
  readonly ground: string;
  readonly requests: number;
}

const DATA_CONTRACTS = [explorerContract, insightsContract, dataServiceContract] as const;
/** The runner sends more requests than a client may. */
const UNLIMITED = { rateLimitPerMinute: 1e9, validateResponses: false };

/**
 * Tests both services over all set-ups, one after the other: both databases, and emulated Blockscout and Insight
 * services of every generation. It starts its own chains and databases.
 */
export async function* runOverAllGrounds(): AsyncGenerator<GroundReport> {
  await using postgres = await startOwnPostgres();
  const onPostgres: DatabaseOptions = { kind: 'postgres', url: postgres.url };
  await using devnet = await startTestDevnet({ chains: 2 });
  yield* runData(devnet, onPostgres);
  yield runPaymentsOn(devnet, 'payments on SQLite', { file: ':memory:' });
  yield runPaymentsOn(devnet, 'payments on PostgreSQL', onPostgres);
}

async function* runData(devnet: TestDevnet, onPostgres: DatabaseOptions): AsyncGenerator<GroundReport> {
  await using onSqlite = await startTestDataService(devnet.chains, UNLIMITED);
  yield drive('data over an index on SQLite', onSqlite.url);
  {
    const chains = devnet.chains.map(chain => ({
      ...servedChain(chain, ''),
      backends: [indexIn(onPostgres)],
    }));
    await using service = await startTestDataService([], { ...UNLIMITED, chains });
    yield drive('data over an index on PostgreSQL', service.url);
  }
  for (const [place, blockscout] of GENERATIONS.entries()) {
    const insight = INSIGHT_GENERATIONS[place % INSIGHT_GENERATIONS.length] ?? INSIGHT_GENERATIONS[0];
    yield runOverUpstreams(devnet, onSqlite.url, { blockscout, insight });
  }
}

/**
 * Tests one chain behind emulated Blockscout and Insight services, which repeat the data of the service at
 * `serviceUrl`.
 */
async function runOverUpstreams(
  { chains: [chain] }: TestDevnet,
  serviceUrl: string,
  { blockscout, insight }: { blockscout: Generation; insight: ThirdwebGeneration },
): Promise<GroundReport> {
  if (chain === undefined) throw new Error('the devnet has no chain');
  const abis = knownContracts(chain.contracts).map(({ abi }) => abi);
  await using explorer = await startBlockscoutEmulator({ generation: blockscout, serviceUrl, abis });
  await using insights = await startThirdwebEmulator({ generation: insight, serviceUrl });
  const { id, name } = chain;
  await using service = await startTestDataService([], {
    ...UNLIMITED,
    chains: [
      {
        id,
        name,
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        rpcUrls: [],
        abis: [],
        backends: [
          { kind: 'blockscout', url: explorer.url, apiKey: undefined },
          { kind: 'insight', url: insights.url, clientId: undefined },
        ],
      },
    ],
  });
  return await drive(`data over Blockscout ${blockscout} and Insight ${insight}`, service.url, {
    isWhole: false,
  });
}

async function drive(ground: string, baseUrl: string, options = { isWhole: true }): Promise<GroundReport> {
  const client = recordingClient({ baseUrl });
  const report = await runContracts(DATA_CONTRACTS, client, options);
  await client.close();
  return { ...report, ground, requests: client.exchanges.length };
}

async function runPaymentsOn(
  { chains }: TestDevnet,
  ground: string,
  database: DatabaseOptions,
): Promise<GroundReport> {
  const watched = chains.map(watchedChain);
  const [{ id, tokens } = { id: 0, tokens: [] }] = watched;
  await using service = await startTestPayments(database, {
    chains: watched,
    demo: { chainId: id, tokenAddress: tokens[0]?.address ?? '', recipientAddress: SHOP },
  });
  const client = recordingClient({ baseUrl: service.url });
  const report = await runPayments(client, service.demoKey ?? '');
  await client.close();
  return { ...report, ground, requests: client.exchanges.length };
}
