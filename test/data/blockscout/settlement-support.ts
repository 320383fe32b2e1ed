import type { DataServiceOptions } from '#data/service.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';
import { blockscoutChain, startTestDataService } from '../../lab/data-service.ts';
import { record } from '../../lab/json.ts';
import { type Behaviour, type SeenRequest, startScriptedUpstream } from '../../lab/scripted-upstream.ts';
import { client } from '../../support/contract-client.ts';

/** Reply of an instance to a path of its API; undefined for a missing record. */
export type Instance = (request: SeenRequest) => Behaviour | undefined | Promise<Behaviour>;

const HOUR_MS = 3_600_000;

export const TRANSACTION = record(JSON.parse(fixtureOf('getTransaction', 'v11').text));
export const HASH = String(TRANSACTION.hash);
export const EMPTY: Behaviour = { json: { items: [], next_page_params: null } };
const BLOCK = record(JSON.parse(fixtureOf('getBlock', 'v11').text));

/** The transaction with this many confirmations, its own block included. */
export const confirmed = (confirmations: number, changes: object = {}): Behaviour => ({
  json: { ...TRANSACTION, confirmations, ...changes },
});

/** A block at this height. */
export const blockAt = (height: number, changes: object = {}) => ({
  ...BLOCK,
  height,
  hash: `0x${height.toString(16).padStart(64, '0')}`,
  ...changes,
});

/** Indexing status of an instance. */
export const indexed = (blocks: boolean, tracesRatio: string | null): Behaviour => ({
  json: {
    finished_indexing: blocks && tracesRatio === '1.00',
    finished_indexing_blocks: blocks,
    indexed_blocks_ratio: blocks ? '1.00' : '0.12',
    indexed_internal_transactions_ratio: tracesRatio,
  },
});

/** Chain 1 over these instances in order: records are final under 12 blocks, and unsettled ones are not kept. */
export async function serve(instances: readonly Instance[], overrides: Partial<DataServiceOptions> = {}) {
  const stack = new AsyncDisposableStack();
  const asked: string[] = [];
  const backends = [];
  for (const instance of instances) {
    const upstream = await startScriptedUpstream(async request => {
      asked.push(request.path);
      return (await instance(request)) ?? { json: { message: 'Not found' }, status: 404 };
    });
    stack.use(upstream);
    backends.push(...blockscoutChain(1, upstream.url).backends);
  }
  const service = stack.use(
    await startTestDataService([], {
      chains: [{ ...blockscoutChain(1, ''), backends }],
      cache: {
        maxBytes: 2 ** 20,
        lifetimes: { finalMs: 86_400_000, movingMs: HOUR_MS, unsettledMs: 0, overrides: {} },
      },
      ...overrides,
    }),
  );
  const { get } = client(service.url);
  return {
    /** Paths requested from the instances so far, in order. */
    asked,
    get: (path: string) => get(`/explorer${path}`),
    /** True when the answer is kept as final. */
    async isFinal(path: string): Promise<boolean> {
      const { headers } = await get(`/explorer${path}`);
      const [, seconds] = /^public, max-age=(\d+)$/.exec(headers.get('cache-control') ?? '') ?? [];
      return Number(seconds) > HOUR_MS / 1000;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
