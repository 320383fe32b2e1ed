import type { Provider } from '@nomicfoundation/edr';
import { isObject } from '#lib/json.ts';

/** Incoming JSON-RPC call. */
export interface IncomingCall {
  readonly id?: unknown;
  readonly method: string;
  readonly params?: unknown;
}

/** Returns the JSON text of the reply to a call. */
export type Answerer = (call: IncomingCall) => Promise<string>;

/**
 * Creates an answerer that serves anvil's methods with EDR, which calls them `hardhat_…` instead of `anvil_…`. A method
 * that EDR does not know gets EDR's error, as with any node.
 */
export async function createAnswerer(provider: Provider): Promise<Answerer> {
  async function replyTo(method: string, params: unknown): Promise<string> {
    const name = method.replace(/^anvil_/, 'hardhat_');
    const { data } = await provider.handleRequest(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params }),
    );
    // EDR returns long replies as objects instead of text.
    return typeof data === 'string' ? data : JSON.stringify(data);
  }

  async function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const { error, result } = JSON.parse(await replyTo(method, params));
    if (error !== undefined) throw new Error(error.message);
    return result;
  }

  const node: Node = { ask, history: await keepHistory(ask) };
  let last: Promise<unknown> = Promise.resolve();

  /** Runs a composed method after the previous one, because its steps must not mix with those of another client. */
  function inTurn(composed: Composition, params: readonly unknown[]): Promise<string> {
    const reply = last.then(() => composed(node, params)).then(resultOf, errorOf);
    last = reply;
    return reply;
  }

  return async ({ id = null, method, params = [] }) => {
    const composed = Object.hasOwn(COMPOSED, method) ? COMPOSED[method] : undefined;
    const reply =
      composed !== undefined && Array.isArray(params)
        ? await inTurn(composed, params)
        : await replyTo(method, params);
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${reply.slice(1)}`;
  };
}

function resultOf(result: unknown): string {
  return JSON.stringify({ result });
}

function errorOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return JSON.stringify({ error: { code: -32_000, message } });
}

interface Node {
  readonly ask: Ask;
  readonly history: History;
}

type Composition = (node: Node, params: readonly unknown[]) => Promise<unknown>;

/** Methods of anvil that EDR has in another form, or only for single transactions. */
const COMPOSED: Readonly<Record<string, Composition>> = {
  evm_mine: async (node, params) => {
    const mined = await node.ask('evm_mine', ...params);
    await node.history.keep();
    return mined;
  },
  evm_revert: async ({ ask, history }, [snapshot]) => {
    const isReverted = await ask('evm_revert', snapshot);
    history.forgetSince(snapshot);
    await history.keep();
    return isReverted;
  },
  anvil_rollback: async ({ history }, [depth = 1]) => {
    await history.rollBack(Number(depth));
    return null;
  },
  anvil_reorg: reorganize,
  anvil_dropAllTransactions: async ({ ask }) => {
    for (const hash of hashesOf(await ask('eth_pendingTransactions')))
      await ask('hardhat_dropTransaction', hash);
    return null;
  },
  txpool_content: async ({ ask }) => ({
    pending: bySender(await ask('eth_pendingTransactions')),
    queued: {},
  }),
  txpool_status: async ({ ask }) => {
    const waiting = hashesOf(await ask('eth_pendingTransactions'));
    return { pending: `0x${waiting.length.toString(16)}`, queued: '0x0' };
  },
  debug_traceBlockByHash: async ({ ask }, [hash, tracer]) =>
    tracesOf(ask, await ask('eth_getBlockByHash', hash, false), tracer),
  debug_traceBlockByNumber: async ({ ask }, [number, tracer]) =>
    tracesOf(ask, await ask('eth_getBlockByNumber', number, false), tracer),
};

/** Replaces the newest blocks. Each signed transaction goes into the block with the given offset. */
async function reorganize({ ask, history }: Node, [depth, transactions]: readonly unknown[]): Promise<null> {
  const pairs: readonly unknown[] = Array.isArray(transactions) ? transactions : [];
  await history.rollBack(Number(depth));
  for (let offset = 0; offset < Number(depth); offset += 1) {
    for (const pair of pairs) {
      if (Array.isArray(pair) && pair[1] === offset) await ask('eth_sendRawTransaction', pair[0]);
    }
    await ask('evm_mine');
    await history.keep();
  }
  return null;
}

/** Pending transactions by their sender and nonce. */
function bySender(transactions: unknown): Record<string, Record<string, unknown>> {
  const all = Array.isArray(transactions) ? transactions.filter(isObject) : [];
  const senders = Map.groupBy(all, ({ from }) => String(from));
  const byNonce = (some: typeof all) => Object.fromEntries(some.map(one => [String(Number(one.nonce)), one]));
  return Object.fromEntries([...senders].map(([sender, some]) => [sender, byNonce(some)]));
}

async function tracesOf(ask: Ask, block: unknown, tracer: unknown) {
  if (!isObject(block)) throw new Error('no such block');
  const traces: { txHash: string; result: unknown }[] = [];
  for (const txHash of hashesOf(block.transactions)) {
    traces.push({ txHash, result: await ask('debug_traceTransaction', txHash, tracer) });
  }
  return traces;
}

/** Hashes of transactions that are given as objects or as hashes. */
function hashesOf(transactions: unknown): string[] {
  const all: readonly unknown[] = Array.isArray(transactions) ? transactions : [];
  return all.map(transaction => String(isObject(transaction) ? transaction.hash : transaction));
}

/** Calls a method of EDR. @throws Error with EDR's message when it refuses. */
type Ask = (method: string, ...params: readonly unknown[]) => Promise<unknown>;

/** Snapshots to which a chain can be rolled back. */
interface History {
  /** Keeps the state of the newest block. Call it after every block that was mined outside of `rollBack`. */
  keep(): Promise<void>;
  /** Drops the snapshots that EDR lost by reverting to an earlier one. */
  forgetSince(snapshot: unknown): void;
  /** Removes the newest blocks. @throws RangeError when the state before them is not kept. */
  rollBack(depth: number): Promise<void>;
}

/** Creates a history with a snapshot of every block, because EDR can only revert to snapshots. */
async function keepHistory(ask: Ask): Promise<History> {
  let kept: { height: number; snapshot: string }[] = [];
  let rollbacks = 0;

  const height = async (): Promise<number> => Number(await ask('eth_blockNumber'));
  const keep = async (): Promise<void> => {
    kept.push({ height: await height(), snapshot: String(await ask('evm_snapshot')) });
  };
  const forgetSince = (snapshot: unknown): void => {
    kept = kept.filter(one => BigInt(one.snapshot) < BigInt(String(snapshot)));
  };

  await keep();
  return {
    keep,
    forgetSince,
    async rollBack(depth) {
      const before = (await height()) - depth;
      const found = kept.find(one => one.height === before);
      if (found === undefined) throw new RangeError(`the state of block ${before} is not kept`);
      await ask('evm_revert', found.snapshot);
      forgetSince(found.snapshot);
      await keep();
      // Without this, a new block with the same content would have the hash of the removed one.
      rollbacks += 1;
      await ask('hardhat_setPrevRandao', `0x${rollbacks.toString(16).padStart(64, '0')}`);
    },
  };
}
