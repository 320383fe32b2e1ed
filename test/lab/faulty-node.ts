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

/** The real node, as a lie sees it. */
export interface RealNode {
  /** Result of a call to it; undefined when it refuses the call. */
  ask(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** Number of the HTTP request that is answered, from 1. */
  readonly request: number;
}

/**
 * A false answer to a call, or a promise of one; an `Error` becomes an error of the node, with its `code` if it has one,
 * `undefined` forwards the real answer.
 */
export type Lie = (call: Call, answer: unknown, node: RealNode) => unknown;

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

  async function real(asked: readonly Call[]): Promise<{ id: number; result?: unknown }[]> {
    const headers = { 'content-type': 'application/json' };
    const { body } = await request(target, { method: 'POST', headers, body: JSON.stringify(asked) });
    return JSON.parse(await body.text());
  }

  function answer(asked: readonly Call[], position: number): Promise<unknown[]> {
    const node: RealNode = {
      request: position,
      async ask(method, ...params) {
        const [answered] = await real([Object.assign({ jsonrpc: '2.0' }, { id: 1, method, params })]);
        return answered?.result;
      },
    };
    return real(asked).then(answers =>
      Promise.all(
        answers.map(async one => {
          const call = asked.find(({ id }) => id === one.id);
          const told = call === undefined ? undefined : await lie?.(call, one.result, node);
          if (told === undefined) return one;
          const id = { jsonrpc: '2.0', id: one.id };
          if (!(told instanceof Error)) return { ...id, result: told };
          const code = 'code' in told ? told.code : -32603;
          return { ...id, error: { code, message: told.message } };
        }),
      ),
    );
  }

  const server = createServer(async (incoming, response) => {
    const asked: Call | Call[] = JSON.parse(await text(incoming));
    const all = Array.isArray(asked) ? asked : [asked];
    requests += 1;
    const position = requests;
    calls.push(...all.map(({ method }) => method));
    if (delayMs === Number.POSITIVE_INFINITY || all.some(hangs)) return;
    if (delayMs > 0) await delay(delayMs);
    if (all.some(lateness.isLate)) await delay(lateness.lateMs);
    const delaying = held !== undefined && all.some(held.isHeld) ? held.until : undefined;
    // Ends the connection like the real node, which may be gone already.
    const answers = await answer(all, position).catch(() => undefined);
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
