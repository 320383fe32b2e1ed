import { type Address, type Hex, namehash, parseAbi } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { EmbeddedChain } from '#devnet/embedded-chain.ts';
import { createLogger } from '#lib/logger.ts';
import { indexIn, servedChain, startTestDataService } from '#test/lab/data-service.ts';
import { startTestDevnet } from '#test/lab/devnet.ts';
import { until } from '#test/lab/until.ts';
import { type Client, client } from '#test/support/contract-client.ts';
import type { TestDatabases } from '#test/support/databases.ts';
import { everything, type Node, nodeOf } from '../../values-support.ts';
import { registerNames } from './register-names.ts';

export type Block = InsightsSchemas['Block'];
export type Transaction = InsightsSchemas['Transaction'];
export type Event = InsightsSchemas['ContractEvent'];
export type Row = Record<string, unknown>;
type Value = string | number | bigint;
export type Query = Readonly<Record<string, Value | readonly Value[]>>;

/** Body of a query. */
export interface Envelope<Record> {
  data: Record[];
  aggregations: Row[];
  meta: InsightsSchemas['Meta'];
}

/** One embedded chain: its configuration in the service, and its node's data. */
export interface SeenChain {
  readonly id: number;
  readonly chain: EmbeddedChain;
  readonly node: Node;
  readonly seen: Awaited<ReturnType<typeof everything>>;
  /** Logs in order. */
  readonly logs: Awaited<ReturnType<typeof everything>>['receipts'][number]['logs'];
  /** Address of `alice.eth` in the registry. */
  readonly alice: Address;
  contract(name: string): Address;
}

/** Two embedded chains and an unavailable one, served together. */
export interface Ground extends AsyncDisposable {
  readonly url: string;
  readonly chains: readonly [SeenChain, SeenChain];
  /** A chain whose index cannot reach its node. */
  readonly out: number;
  readonly api: Client;
  /** Reads a body that must exist. Its type is the contract's, which the client has just checked. */
  read<Body>(path: string, query?: Query): Promise<Body>;
  /** Waits until the indexes have caught up with their nodes. */
  catchUp(): Promise<void>;
}

/** Host of the service's public address. */
export const PUBLIC_HOST = 'own.data.test';
const OUT = 4242;
const REGISTRY = parseAbi(['function resolver(bytes32) view returns (address)']);
const RESOLVER = parseAbi(['function addr(bytes32) view returns (address)']);

/** SQLite by default; a PostgreSQL database holds the indexes of all chains. */
export async function startGround(databases?: TestDatabases): Promise<Ground> {
  await using stack = new AsyncDisposableStack();
  const devnet = stack.use(await startTestDevnet({ chains: 2 }));
  const [first, second] = devnet.chains;
  if (first === undefined || second === undefined) throw new Error('there are not two chains');
  await registerNames(first);
  const nowhere = { ...second, id: OUT, name: 'Out of reach', rpcUrl: 'http://127.0.0.1:9' };
  const shared = databases?.kind === 'postgres' ? await databases.create() : undefined;
  const service = stack.use(
    await startTestDataService(
      [],
      {
        rateLimitPerMinute: 1e9,
        // The client checks every answer against the contract.
        validateResponses: false,
        publicUrl: `http://${PUBLIC_HOST}`,
        // Each retry of the unavailable chain logs a line.
        log: createLogger({ level: 'silent' }),
        chains: [first, second, nowhere].map(chain => ({
          ...servedChain(chain, devnet.folder),
          ...(shared === undefined ? {} : { backends: [indexIn(shared)] }),
        })),
      },
      async ({ url }) =>
        void (await until(
          () => areIndexed(url, devnet.chains),
          isThere => isThere,
        )),
    ),
  );
  const seen = await Promise.all([seenChain(first), seenChain(second)]);
  const api = client(service.url);
  const kept = stack.move();
  return {
    url: service.url,
    chains: seen,
    out: OUT,
    api,
    async read<Body>(path: string, query: Query = {}) {
      const target = pathOf(path, query);
      const { status, body } = await api.get(target);
      if (status !== 200) throw new Error(`${target} → ${status} ${JSON.stringify(body)}`);
      const retyped: Body = JSON.parse(JSON.stringify(body));
      return retyped;
    },
    // The unavailable chain has no known time of return.
    catchUp: () => service.catchUp().catch(() => undefined),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** A path below the family's root with a query; lists are repeated parameters. */
export function pathOf(path: string, query: Query = {}): string {
  const parameters = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one): [string, string] => [name, String(one)]),
  );
  return `/insights/v1${path}${parameters.length === 0 ? '' : `?${new URLSearchParams(parameters)}`}`;
}

export const lower = (text: Hex | string): string => text.toLowerCase();

/** Waits until each chain answers on its own: a combined answer without one of them would be cached for a while. */
async function areIndexed(url: string, chains: readonly EmbeddedChain[]): Promise<boolean> {
  const answers = await Promise.all(
    chains.map(({ id }) => fetch(`${url}/insights/v1/blocks?limit=0&chain_id=${id}`)),
  );
  await Promise.all(answers.map(answer => answer.text()));
  return answers.every(({ status }) => status === 200);
}

async function seenChain(chain: EmbeddedChain): Promise<SeenChain> {
  const node = nodeOf(chain);
  const seen = await everything(node);
  const args = [namehash('alice.eth')] as const;
  const { registry } = chain.names;
  const resolver = await node.viem.readContract({
    address: registry,
    abi: REGISTRY,
    functionName: 'resolver',
    args,
  });
  return {
    id: chain.id,
    chain,
    node,
    seen,
    logs: seen.receipts.flatMap(receipt => receipt.logs),
    alice: await node.viem.readContract({ address: resolver, abi: RESOLVER, functionName: 'addr', args }),
    contract(name) {
      const found = chain.contracts.find(contract => contract.name === name);
      if (found === undefined) throw new Error(`no contract is called ${name}`);
      return found.address;
    },
  };
}
