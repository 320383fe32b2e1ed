import { expect } from 'vitest';
import type { ServedChain } from '../../src/data/open-chain.ts';
import type { DataServiceOptions } from '../../src/data/service.ts';
import { blockscoutChain, startTestDataService } from '../lab/data-service.ts';
import { world } from '../lab/instance-world.ts';
import { type Behaviour, type SeenRequest, startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { PATIENCE_MS } from '../lab/until.ts';
import { type Answer, client } from '../support/contract-client.ts';

/** Reply of an upstream to a request. */
export type Respond = (request: SeenRequest) => Behaviour;

/** Headers that every request to an upstream carries. */
export const KEY = 'a-key-that-nobody-is-to-hear-of';
export const HTML = '<!doctype html><title>Just a moment...</title>';
/** An upstream's own 404. */
export const LACKS: Behaviour = { json: { message: 'Not found' }, status: 404 };

/** A chain of 101 blocks. Chain 2 has different blocks, but the same first transactions. */
export const one = world({ chainId: 1, head: 100, apiKey: KEY });
const two = world({ chainId: 2, head: 200, apiKey: KEY });
/** A transaction of both chains, and one of each chain alone, with few confirmations. */
export const [shared = ''] = one.transactions;
export const [ofOne = ''] = one.transactions.slice(-1);
export const [ofTwo = ''] = two.transactions.slice(-1);
export const TRANSACTION = `/explorer/transactions/${shared}`;

/** Replies for chain 2. */
export const has: Respond = ({ path, query }) => two.answer(path, query);
/** Replies for chain 1. */
export const hasFirst: Respond = ({ path, query }) => one.answer(path, query);

/**
 * Chains 1, 2 and so on over real upstreams, each with the back ends of its list. `asked` returns their lookups in
 * order.
 */
export async function serve(
  chains: readonly (readonly Respond[])[],
  overrides: Partial<DataServiceOptions> = {},
) {
  const stack = new AsyncDisposableStack();
  const asked: string[] = [];
  const hosts: string[] = [];
  const served: ServedChain[] = [];
  for (const [at, responds] of chains.entries()) {
    const backends: ServedChain['backends'][number][] = [];
    for (const [place, respond] of responds.entries()) {
      const name = `${at + 1}${'abc'[place]}`;
      const upstream = await startScriptedUpstream(request => {
        // Background requests for the latest blocks and the indexing status.
        if (!request.path.startsWith('/main-page/')) asked.push(name);
        return respond(request);
      });
      stack.use(upstream);
      hosts.push(new URL(upstream.url).host);
      backends.push(...blockscoutChain(at + 1, upstream.url, KEY).backends);
    }
    served.push({ ...blockscoutChain(at + 1, ''), backends });
  }
  const service = stack.use(
    await startTestDataService([], {
      chains: served,
      fallback: { timeoutMs: PATIENCE_MS, staggerMs: 60_000 },
      ...overrides,
    }),
  );
  const { get } = client(service.url);
  return {
    url: service.url,
    asked: () => asked.splice(0),
    async get(path: string): Promise<Answer> {
      const answer = await get(path);
      const told = JSON.stringify([answer.body, ...answer.headers]);
      for (const secret of [KEY, ...hosts]) expect(told).not.toContain(secret);
      return answer;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export const json =
  (status: number, body: unknown, headers = {}): Respond =>
  () => ({ json: body, status, headers });
/** Refuses with a message that contains the key and the address. */
export const refuses =
  (status: number): Respond =>
  ({ headers }) => ({
    json: { message: `${headers['x-api-key']} at ${headers.host}` },
    status,
  });
