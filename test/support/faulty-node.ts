import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/** The lie that is told instead of an answer, an `Error` as the node's own; `undefined` passes the answer on. */
export type Lie = (call: Call, answer: unknown) => unknown;

/** A node in front of another one that tells lies. `await using` ends it. */
export interface FaultyNode extends AsyncDisposable {
  readonly url: string;
  /** From now on; undefined has it tell the truth. */
  tell(lie: Lie | undefined): void;
}

/** Listens on a free port of 127.0.0.1 and asks the real node. */
export async function faultyNode(realUrl: string): Promise<FaultyNode> {
  let lie: Lie | undefined;

  async function answer(calls: readonly Call[]): Promise<unknown[]> {
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(realUrl, { method: 'POST', headers, body: JSON.stringify(calls) });
    const answers: { id: number; result?: unknown }[] = JSON.parse(await response.text());
    return answers.map(one => {
      const call = calls.find(asked => asked.id === one.id);
      const told = call === undefined ? undefined : lie?.(call, one.result);
      if (told === undefined) return one;
      const id = { jsonrpc: '2.0', id: one.id };
      return told instanceof Error
        ? { ...id, error: { code: -32603, message: told.message } }
        : { ...id, result: told };
    });
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: Call | Call[] = JSON.parse(Buffer.concat(chunks).toString());
    const answers = await answer(Array.isArray(asked) ? asked : [asked]);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');

  return {
    url: `http://127.0.0.1:${address.port}`,
    tell(next) {
      lie = next;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
