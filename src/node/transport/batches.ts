import type { Clock } from '#lib/clock.ts';
import { isObject } from '#lib/json.ts';
import { AnswerTooLarge, NodeFailure, RpcFailure } from './errors.ts';
import { type NodeExchange, TooManyBytes } from './exchange.ts';

/** One call of JSON-RPC. */
interface RpcCall {
  readonly method: string;
  readonly params?: unknown;
}

/** Sends calls to one node. Each call resolves or rejects alone. @throws NodeFailure, AnswerTooLarge or RpcFailure */
export type NodeCall = (call: RpcCall, signal?: AbortSignal) => Promise<unknown>;

interface BatchedCallsOptions {
  readonly exchange: NodeExchange;
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
}

/** A call that waits for its answer. */
interface OpenCall extends RpcCall {
  readonly signal: AbortSignal | undefined;
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Called when the caller gives up while the call is under way. */
  onAbandoned: (() => void) | undefined;
}

/** Most calls of one batch. Public nodes commonly refuse more. */
const MAX_CALLS = 100;
/** Expected bytes of the answer to one batch. One call may exceed it. */
const BATCH_BYTES = 4 * 2 ** 20;
/** HTTP requests to one node at a time. Further ones wait, and their deadline has not begun. */
const REQUESTS_AT_A_TIME = 8;
/** Time after which longer batches are tried again. */
const TRY_LONGER_MS = 10 * 60_000;
/** Methods that can keep a node busy for long. They are sent alone, so that no other call waits for their answer. */
const ALONE = /^(trace_|debug_|eth_getBlockReceipts$)/;
/** HTTP statuses of a node that refuses a batch, but may accept its parts. */
const REFUSALS_OF_BATCHES: readonly (number | undefined)[] = [400, 405, 413, 414, 415, 422, 500];
/** Error codes and HTTP statuses in answers that mean "too many requests". Sources: Alchemy, QuickNode. */
const LIMIT_CODES: readonly number[] = [429, -32_007, -32_029];

/**
 * Collects the calls of one turn of the event loop and sends them in batches. A batch is sized by the expected bytes of
 * its answer and by what the node accepts, and sent again in halves when that was too much (Decision 306).
 */
export function batchedCalls({ exchange, maxAnswerBytes, clock }: BatchedCallsOptions): NodeCall {
  const sizes = answerSizes();
  let collected: OpenCall[] = [];
  let maxCalls = MAX_CALLS;
  let loweredAt = 0;
  let running = 0;
  const waiting: (() => void)[] = [];

  function flush(): void {
    const calls = collected.filter(({ signal }) => signal?.aborted !== true);
    collected = [];
    for (const batch of batchesOf(calls)) void deliver(batch);
  }

  function* batchesOf(calls: readonly OpenCall[]): Generator<OpenCall[]> {
    if (clock.now() - loweredAt >= TRY_LONGER_MS) maxCalls = MAX_CALLS;
    let batch: OpenCall[] = [];
    let bytes = 0;
    for (const call of calls) {
      if (ALONE.test(call.method)) {
        yield [call];
        continue;
      }
      const expected = sizes.expected(kindOf(call));
      if (batch.length >= maxCalls || (batch.length > 0 && bytes + expected > BATCH_BYTES)) {
        yield batch;
        batch = [];
        bytes = 0;
      }
      batch.push(call);
      bytes += expected;
    }
    if (batch.length > 0) yield batch;
  }

  /** Sends calls and settles each of them. Never rejects. */
  async function deliver(calls: readonly OpenCall[]): Promise<void> {
    if (running >= REQUESTS_AT_A_TIME) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      await promise;
    } else {
      running += 1;
    }
    let parts: readonly (readonly OpenCall[])[];
    try {
      parts = await attempt(calls.filter(({ signal }) => signal?.aborted !== true));
    } catch (error) {
      for (const { reject } of calls) reject(error);
      return;
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
    // One after another, because the parts of a large answer are large.
    for (const part of parts) await deliver(part);
  }

  /** Returns the parts that have to be sent again. @throws what all calls fail with */
  async function attempt(calls: readonly OpenCall[]): Promise<readonly (readonly OpenCall[])[]> {
    const [first] = calls;
    if (first === undefined) return [];
    const isBatch = calls.length > 1;
    const written = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    try {
      const text = JSON.stringify(isBatch ? written : written[0]);
      const { value, bytes } = await exchange.post(text, signalOf(calls));
      sizes.learn(calls.map(kindOf), bytes);
      if (!isBatch) {
        settle(first, Array.isArray(value) ? value[0] : value);
        return [];
      }
      if (!Array.isArray(value)) {
        if (isLimit(value)) throw new NodeFailure({ host: exchange.host, fault: 'limited' });
        return lowered(calls);
      }
      return unanswered(calls, value);
    } catch (error) {
      if (error instanceof TooManyBytes) {
        if (!isBatch) throw new AnswerTooLarge({ method: first.method, limitBytes: maxAnswerBytes });
        sizes.learn(calls.map(kindOf), maxAnswerBytes);
        return halves(calls);
      }
      if (isBatch && error instanceof NodeFailure) {
        if (error.fault === 'refused' && REFUSALS_OF_BATCHES.includes(error.status)) return lowered(calls);
        // One call of these may keep the node busy. Shorter batches leave the others a chance.
        if (error.fault === 'timeout') lowered(calls);
      }
      throw error;
    }
  }

  /** Halves of a batch that the node does not accept. Later batches are as short. */
  function lowered(calls: readonly OpenCall[]): readonly (readonly OpenCall[])[] {
    maxCalls = Math.min(maxCalls, Math.max(1, Math.floor(calls.length / 2)));
    loweredAt = clock.now();
    return halves(calls);
  }

  /** Settles the answered calls of a batch. Returns the others, each alone. */
  function unanswered(calls: readonly OpenCall[], answers: readonly unknown[]): readonly OpenCall[][] {
    const byId = new Map(answers.flatMap(one => (isObject(one) ? [[one.id, one]] : [])));
    return calls.flatMap((call, id) => {
      const answer = byId.get(id);
      if (answer === undefined) return [[call]];
      settle(call, answer);
      return [];
    });
  }

  function settle({ resolve, reject }: OpenCall, answer: unknown): void {
    if (isLimit(answer)) {
      reject(new NodeFailure({ host: exchange.host, fault: 'limited' }));
    } else if (isObject(answer) && isObject(answer.error)) {
      const { code, message, data } = answer.error;
      reject(
        new RpcFailure({
          code: typeof code === 'number' ? code : -32_603,
          message: exchange.withoutSecrets(typeof message === 'string' ? message : 'unknown error'),
          data,
        }),
      );
    } else if (isObject(answer) && answer.result !== undefined) {
      resolve(answer.result);
    } else {
      reject(new NodeFailure({ host: exchange.host, fault: 'unreadable' }));
    }
  }

  return (call, signal) => {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    if (collected.length === 0) setImmediate(flush);
    const open: OpenCall = { ...call, signal, resolve, reject, onAbandoned: undefined };
    collected.push(open);
    if (signal === undefined) return promise;
    const abort = () => {
      reject(signal.reason);
      open.onAbandoned?.();
    };
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    return promise.finally(() => signal.removeEventListener('abort', abort));
  };
}

/** Calls with answers of similar length: by method, and for blocks by whether their transactions are wanted. */
function kindOf({ method, params }: RpcCall): string {
  return Array.isArray(params) && params[1] === true ? `${method} full` : method;
}

function halves<T>(calls: readonly T[]): readonly (readonly T[])[] {
  const middle = Math.ceil(calls.length / 2);
  return [calls.slice(0, middle), calls.slice(middle)];
}

/** True when the node answers that it limits the rate. */
function isLimit(answer: unknown): boolean {
  return (
    isObject(answer) &&
    isObject(answer.error) &&
    typeof answer.error.code === 'number' &&
    LIMIT_CODES.includes(answer.error.code)
  );
}

/** Aborts when the callers of all calls have given up. */
function signalOf(calls: readonly OpenCall[]): AbortSignal {
  const all = new AbortController();
  let open = calls.length;
  for (const call of calls) {
    call.onAbandoned = () => {
      open -= 1;
      if (open === 0) all.abort(call.signal?.reason);
    };
  }
  return all.signal;
}

/** Expected bytes of answers, by kind of call, until one was seen. */
const FIRST_GUESS: Readonly<Record<string, number>> = {
  'eth_getBlockByNumber full': 256 * 1024,
  'eth_getBlockByHash full': 256 * 1024,
  eth_getTransactionReceipt: 8 * 1024,
  eth_getLogs: 64 * 1024,
  eth_getCode: 16 * 1024,
};
const OTHER_GUESS = 1_024;
/** Weight of a new answer that is shorter than the expectation. A longer one counts at once. */
const SHORTER_WEIGHT = 0.1;

/** Learns how long a node's answers are, so that batches can be sized before they are sent. */
function answerSizes() {
  const learned = new Map<string, number>();
  const expected = (kind: string) => learned.get(kind) ?? FIRST_GUESS[kind] ?? OTHER_GUESS;

  return {
    /** Bytes of an answer to a call of this kind. */
    expected,
    /** Records the length of an answer to these calls. They share it in proportion to their expected lengths. */
    learn(kinds: readonly string[], bytes: number): void {
      const sum = kinds.reduce((all, kind) => all + expected(kind), 0);
      const before = new Map(kinds.map(kind => [kind, expected(kind)]));
      for (const [kind, guess] of before) {
        const seen = (guess / sum) * bytes;
        learned.set(kind, seen > guess ? seen : guess + (seen - guess) * SHORTER_WEIGHT);
      }
    },
  };
}
