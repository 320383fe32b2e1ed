import { request } from 'undici';

/** One JSON-RPC call. */
export interface JsonRpcCall {
  method: string;
  params: readonly unknown[];
}

/** Sends calls in one request and resolves to their results in the same order. */
export interface Rpc {
  batch(calls: readonly JsonRpcCall[]): Promise<unknown[]>;
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
}

/** The node answered a call with an error. */
export class RpcError extends Error {
  readonly method: string;
  readonly code: number | undefined;

  constructor({ method, code, message }: { method: string; code: number | undefined; message: string }) {
    super(`${method}: ${message}`);
    this.name = 'RpcError';
    this.method = method;
    this.code = code;
  }
}

interface Reply {
  id?: number;
  result?: unknown;
  error?: { code?: number; message?: string };
}

/**
 * JSON-RPC over HTTP to an embedded chain. Batches, because the fill is thousands of calls.
 * @throws RpcError for the first call of a batch that failed; another Error when the node does not answer.
 */
export function httpRpc(url: string, { timeoutMs = 30_000 }: { timeoutMs?: number } = {}): Rpc {
  async function batch(calls: readonly JsonRpcCall[]): Promise<unknown[]> {
    if (calls.length === 0) return [];
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    // Takes a third of the time of `fetch`.
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    const answer: unknown = await response.body.json();
    const replies = new Map<number | undefined, Reply>(
      Array.isArray(answer) ? answer.map((reply: Reply) => [reply.id, reply]) : [],
    );
    return calls.map(({ method }, id) => {
      const reply = replies.get(id);
      if (reply?.result !== undefined) return reply.result;
      const { code, message = `no answer (HTTP ${response.statusCode})` } = reply?.error ?? {};
      throw new RpcError({ method, code, message });
    });
  }

  return {
    batch,
    call: async (method, ...params) => (await batch([{ method, params }]))[0],
  };
}
