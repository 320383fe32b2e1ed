import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { request } from 'undici';
import { TRACE_METHODS } from '../../src/node/trace-methods.ts';
import { loopbackPort } from '../lab/loopback-server.ts';

/** Methods that a node without traces lacks. */
export const TRACING: readonly string[] = [...TRACE_METHODS, 'debug_traceTransaction'];

interface Call {
  id: number;
  method: string;
  params?: unknown[];
}

export interface NodeProxy {
  rpcUrl: string;
  /** Calls so far by method. */
  counts: Map<string, number>;
  /** All calls so far, in order. */
  calls: Call[];
  stop(): Promise<void>;
}

/**
 * A proxy to a node with differences: missing methods, refused calls and changed results.
 * `change` receives the real result and may return another, also asynchronously; `invented` are results of methods
 * that the real node lacks.
 */
export async function startNodeProxy(
  target: string,
  {
    missing = [],
    refuses = () => false,
    invented = {},
    change,
  }: {
    missing?: readonly string[];
    refuses?: (call: Call) => boolean;
    invented?: Record<string, unknown>;
    change?: (method: string, result: unknown) => unknown;
  },
): Promise<NodeProxy> {
  const counts = new Map<string, number>();
  const calls: Call[] = [];

  async function answer(call: Call): Promise<unknown> {
    counts.set(call.method, (counts.get(call.method) ?? 0) + 1);
    calls.push(call);
    if (missing.includes(call.method)) {
      return { jsonrpc: '2.0', id: call.id, error: { code: -32601, message: 'Method not found' } };
    }
    if (refuses(call)) {
      return { jsonrpc: '2.0', id: call.id, error: { code: -32000, message: 'missing trie node' } };
    }
    if (call.method in invented) return { jsonrpc: '2.0', id: call.id, result: invented[call.method] };
    const { body } = await request(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(call),
    });
    const reply: unknown = await body.json();
    if (change === undefined || typeof reply !== 'object' || reply === null || !('result' in reply))
      return reply;
    return { ...reply, result: await change(call.method, reply.result) };
  }

  const server = createServer(async (incoming, response) => {
    const body = JSON.parse(await text(incoming));
    const replies = Array.isArray(body) ? await Promise.all(body.map(answer)) : await answer(body);
    response.setHeader('content-type', 'application/json').end(JSON.stringify(replies));
  });
  const port = await loopbackPort(server);

  return {
    rpcUrl: `http://127.0.0.1:${port}`,
    counts,
    calls,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A block with invented withdrawals. Another root makes its header one that an index cannot recompute. */
export function withWithdrawals(block: object, withdrawals: readonly object[]): object {
  const root = withdrawals.length === 0 ? {} : { withdrawalsRoot: `0x${'07'.repeat(32)}` };
  return { ...block, withdrawals, ...root };
}
