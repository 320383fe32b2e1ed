import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { isObject } from '../../../lib/json.ts';
import { type Answerer, createAnswerer, type IncomingCall } from './methods.ts';
import { openProvider } from './provider.ts';

/**
 * Program that runs one EDR chain and serves JSON-RPC on a free port of 127.0.0.1, like anvil.
 * Arguments: the chain's id, its fork, the time of its first block in seconds. Output: `Listening on <host>:<port>`.
 */
const [chainId, fork, genesisTime] = process.argv.slice(2);
if (genesisTime === undefined) throw new Error('the chain has no id, no fork or no time');
const hardfork = fork === 'amsterdam' ? fork : 'prague';
const answer = await createAnswerer(
  await openProvider({ chainId: Number(chainId), hardfork, genesisTime: Number(genesisTime) }),
);

const server = createServer((request, response) => {
  void reply(request, answer).then(
    body => response.setHeader('content-type', 'application/json').end(body),
    () => response.destroy(), // the client has left
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (isObject(address)) process.stdout.write(`Listening on 127.0.0.1:${address.port}\n`);
});

async function reply(request: IncomingMessage, answer: Answerer): Promise<string> {
  const calls = callsIn(await text(request));
  if (calls === undefined) return INVALID;
  if (!Array.isArray(calls)) return answer(calls);
  const replies: string[] = [];
  // In sequence: a batch may hold consecutive transactions of one sender.
  for (const call of calls) replies.push(await answer(call));
  return `[${replies.join(',')}]`;
}

const INVALID =
  '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not a call, nor a list of calls"}}';

function callsIn(body: string): IncomingCall | IncomingCall[] | undefined {
  try {
    const value: unknown = JSON.parse(body);
    if (Array.isArray(value)) return value.every(isCall) ? value : undefined;
    return isCall(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isCall(value: unknown): value is IncomingCall {
  return isObject(value) && typeof value.method === 'string';
}
