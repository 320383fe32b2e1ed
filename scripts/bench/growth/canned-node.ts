import { createServer, type IncomingMessage } from 'node:http';
import { numberToHex } from 'viem';
import { BUSY, hashOf, NFT } from './synthetic-block.ts';

/** A simulated node with one answer for every method. Its share of a measured time does not depend on the chain. */
export interface CannedNode extends AsyncDisposable {
  readonly url: string;
}

const TRACE = {
  type: 'call',
  action: { callType: 'call', from: BUSY, to: NFT, gas: '0x5208', value: '0x0', input: '0x' },
  result: { gasUsed: '0x5208', output: '0x' },
  subtraces: 0,
  traceAddress: [],
  transactionHash: hashOf('7a', 1),
  transactionPosition: 0,
  blockHash: hashOf('b10c', 1),
  blockNumber: 1,
};
const WORD = `0x${'0'.repeat(63)}7`;

function answerTo(method: string, params: readonly unknown[], chainId: number): unknown {
  switch (method) {
    case 'eth_chainId':
      return `0x${chainId.toString(16)}`;
    // Every block changes the balance by the same amount.
    case 'eth_getBalance':
      return numberToHex(10n ** 18n + BigInt(String(params[1])));
    case 'trace_transaction':
      return [TRACE];
    case 'debug_traceTransaction':
      return { pre: { [BUSY]: { balance: '0x64' } }, post: { [BUSY]: { balance: '0x32' } } };
    case 'txpool_content':
      return { pending: {}, queued: {} };
    case 'eth_getCode':
      return '0x6080604052';
    case 'eth_call':
    case 'eth_getStorageAt':
      return WORD;
    default:
      return null;
  }
}

/** Starts the node on a free port of the loopback interface. */
export function startCannedNode(chainId: number): Promise<CannedNode> {
  return startNode((method, params) => answerTo(method, params, chainId));
}

/** Starts a node that answers calls by a function. */
export async function startNode(
  answer: (method: string, params: readonly unknown[]) => unknown,
): Promise<CannedNode> {
  const reply = ({
    id,
    method,
    params = [],
  }: {
    id: number;
    method: string;
    params?: readonly unknown[];
  }) => ({
    jsonrpc: '2.0',
    id,
    result: answer(method, params),
  });
  const server = createServer(async (request, response) => {
    const call = JSON.parse(await textOf(request));
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(call) ? call.map(reply) : reply(call)));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the node has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return Buffer.concat(parts).toString();
}
