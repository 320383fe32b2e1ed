import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isObject } from '#lib/json.ts';
import { loopbackPort } from '../lab/loopback-server.ts';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** An HTTP request with its calls. `isBatch` tells a list of one call from a single call. */
interface NodeRequest {
  readonly calls: readonly Call[];
  readonly isBatch: boolean;
  readonly request: IncomingMessage;
}

/** Sends any response, also none. `well` sends the results of well behaved calls. */
export type NodeBehaviour = (
  asked: NodeRequest,
  response: ServerResponse,
  well: (results?: (call: Call) => unknown) => void,
) => void;

/** A node that behaves as a test says. `await using` ends it. */
export interface HostileNode extends AsyncDisposable {
  readonly url: string;
  /** The requests so far, as the numbers of their calls. */
  readonly batches: readonly number[];
  /** The methods of all calls so far. */
  readonly methods: readonly string[];
  behave(next: NodeBehaviour): void;
}

/** A node on 127.0.0.1 without a chain: `eth_chainId` is `chainId`, its head is block 1, anything else returns null. */
export async function hostileNode(
  behaviour: NodeBehaviour = (_, __, well) => well(),
  chainId = 1,
): Promise<HostileNode> {
  let behave = behaviour;
  const batches: number[] = [];
  const methods: string[] = [];
  const resultOf = ({ method }: Call) => {
    if (method === 'eth_chainId') return `0x${chainId.toString(16)}`;
    return method === 'eth_getBlockByNumber' ? { number: '0x1' } : null;
  };

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: unknown = JSON.parse(Buffer.concat(chunks).toString());
    const calls = (Array.isArray(asked) ? asked : [asked]).map(callOf);
    batches.push(calls.length);
    methods.push(...calls.map(({ method }) => method));
    behave({ calls, isBatch: Array.isArray(asked), request }, response, results => {
      const answers = calls.map(call => {
        const result = results?.(call);
        const told = result === undefined ? resultOf(call) : result;
        const reply = { jsonrpc: '2.0', id: call.id };
        if (!(told instanceof Error)) return { ...reply, result: told };
        const code = 'code' in told ? told.code : -32_000;
        return { ...reply, error: { code, message: told.message } };
      });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
    });
  });
  const port = await loopbackPort(server);

  return {
    url: `http://127.0.0.1:${port}`,
    batches,
    methods,
    behave(next) {
      behave = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function callOf(value: unknown): Call {
  if (!isObject(value) || typeof value.method !== 'string' || typeof value.id !== 'number')
    throw new TypeError('The request is no JSON-RPC call.');
  return { id: value.id, method: value.method, params: Array.isArray(value.params) ? value.params : [] };
}
