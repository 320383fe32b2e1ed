import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { request } from 'undici';
import { loopbackPort } from './loopback-server.ts';

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

/**
 * A false answer to a call; an `Error` becomes an error of the node, with its `code` if it has one, `undefined` forwards
 * the real answer.
 */
export type Lie = (call: Call, answer: unknown) => unknown;

/** A proxy of a node that can lie. `await using` ends it. */
export interface FaultyNode extends AsyncDisposable {
  readonly url: string;
  /** Sets the lie from now on; undefined restores the true answers. */
  tell(lie: Lie | undefined): void;
  /** Delays every HTTP answer from now on, forever when infinite. */
  slow(delayMs: number): void;
  /** Forwards HTTP requests with such a call only after this time, from now on. */
  late(isLate: (call: Call) => boolean, lateMs: number): void;
  /** Never answers HTTP requests with such a call from now on. */
  hang(isHeld: (call: Call) => boolean): void;
  /** Delays the answers of HTTP requests with such a call until the returned function is called. */
  hold(isHeld: (call: Call) => boolean): () => void;
  /** Forwards to another node from now on. */
  pointAt(realUrl: string): void;
  /** Methods of all JSON-RPC calls so far, including each call of a batch. */
  readonly calls: readonly string[];
  /** HTTP requests so far. */
  readonly requests: number;
}

/** Listens on a free port of 127.0.0.1 and forwards to the real node. */
export async function faultyNode(realUrl: string): Promise<FaultyNode> {
  let lie: Lie | undefined;
  let target = realUrl;
  let delayMs = 0;
  let lateness = { isLate: (_: Call) => false, lateMs: 0 };
  let hangs = (_: Call) => false;
  let held: { readonly isHeld: (call: Call) => boolean; readonly until: Promise<void> } | undefined;
  let requests = 0;
  const calls: string[] = [];

  async function answer(asked: readonly Call[]): Promise<unknown[]> {
    const headers = { 'content-type': 'application/json' };
    const { body } = await request(target, { method: 'POST', headers, body: JSON.stringify(asked) });
    const answers: { id: number; result?: unknown }[] = JSON.parse(await body.text());
    return answers.map(one => {
      const call = asked.find(({ id }) => id === one.id);
      const told = call === undefined ? undefined : lie?.(call, one.result);
      if (told === undefined) return one;
      const id = { jsonrpc: '2.0', id: one.id };
      if (!(told instanceof Error)) return { ...id, result: told };
      const code = 'code' in told ? told.code : -32603;
      return { ...id, error: { code, message: told.message } };
    });
  }

  const server = createServer(async (incoming, response) => {
    const asked: Call | Call[] = JSON.parse(await text(incoming));
    const all = Array.isArray(asked) ? asked : [asked];
    requests += 1;
    calls.push(...all.map(({ method }) => method));
    if (delayMs === Number.POSITIVE_INFINITY || all.some(hangs)) return;
    if (delayMs > 0) await delay(delayMs);
    if (all.some(lateness.isLate)) await delay(lateness.lateMs);
    const delaying = held !== undefined && all.some(held.isHeld) ? held.until : undefined;
    // Ends the connection like the real node, which may be gone already.
    const answers = await answer(all).catch(() => undefined);
    if (answers === undefined) return void response.destroy();
    await delaying;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(Array.isArray(asked) ? answers : answers[0]));
  });
  const port = await loopbackPort(server);

  return {
    url: `http://127.0.0.1:${port}`,
    tell(next) {
      lie = next;
    },
    slow(ms) {
      delayMs = ms;
    },
    late(isLate, lateMs) {
      lateness = { isLate, lateMs };
    },
    hang(isHeld) {
      hangs = isHeld;
    },
    hold(isHeld) {
      const { promise: until, resolve } = Promise.withResolvers<void>();
      held = { isHeld, until };
      return () => {
        held = undefined;
        resolve();
      };
    },
    pointAt(url) {
      target = url;
    },
    calls,
    get requests() {
      return requests;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}
