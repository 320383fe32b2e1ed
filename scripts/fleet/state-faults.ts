import { setTimeout as delay } from 'node:timers/promises';
import type { Lie } from '../../test/lab/faulty-node.ts';
import { mintPostcard } from '../../test/lab/payment-chain.ts';
import type { InterruptedChain } from './chain.ts';

type Call = Parameters<Lie>[0];

/** A fault of a node that concerns the state of its chain, and no block. */
export interface StateFault {
  readonly name: string;
  /** Time for which the node keeps calls for state waiting. */
  readonly lateMs: number;
  /** Time between two blocks with transfers. */
  readonly roundMs: number;
  /** Creates the node's false answers. */
  readonly lie: () => Lie;
}

const ROUND_MS = 1_000;
/** Blocks whose state the fleet's pruned node keeps. Real ones keep 128, and their readers may be as far behind. */
const KEPT_BLOCKS = 2;

export const STATE_FAULTS: readonly StateFault[] = [
  { name: 'a node prunes its state', lateMs: 4_000, roundMs: ROUND_MS, lie: () => pruning(KEPT_BLOCKS) },
  { name: 'two nodes a block apart', lateMs: 0, roundMs: ROUND_MS, lie: blockApart },
];

const ROUNDS = 6;
/** Most blocks with transfers until the node has refused something. */
const MAX_ROUNDS = 30;
/** Account that sends the tokens. No shop's customer uses it. */
const SENDER = 19;

/** Moves tokens and NFTs while a node has a fault. Returns the number of calls for state that the node refused. */
export async function disturbState(
  { chain, node }: Pick<InterruptedChain, 'chain' | 'node'>,
  { lateMs, roundMs, lie }: StateFault,
  signal: AbortSignal,
): Promise<number> {
  let refused = 0;
  const told = lie();
  node.late(asksForState, lateMs);
  node.tell((call, answer, real) => {
    const lied = told(call, answer, real);
    if (lied instanceof Error) refused += 1;
    return lied;
  });
  try {
    for (let round = 0; round < ROUNDS || (refused === 0 && round < MAX_ROUNDS); round += 1) {
      const to = chain.accounts[round % ROUNDS] ?? '';
      await mintPostcard(chain, to);
      await chain.pay({ from: SENDER, to, amount: BigInt(round + 1) });
      await delay(roundMs, undefined, { signal });
    }
    return refused;
  } finally {
    node.tell(undefined);
    node.late(() => false, 0);
  }
}

/** Answers of a node that keeps the state of its newest blocks, in the words of geth. */
function pruning(kept: number): Lie {
  const newest = newestBlock();
  return (call, answer) => {
    const oldest = newest(call, answer) - kept + 1;
    const block = blockOfState(call);
    return block !== undefined && block < oldest ? new NodeError('missing trie node') : undefined;
  };
}

/** Answers of two nodes behind one address, one of which does not have the newest block. They answer in turn. */
function blockApart(): Lie {
  const newest = newestBlock();
  let calls = 0;
  return (call, answer) => {
    const number = newest(call, answer);
    calls += 1;
    if (calls % 2 === 0) return undefined;
    if (blockOfState(call) === number) return new NodeError('header not found');
    const isHeader = call.method === 'eth_getBlockByNumber' && numberOf(call.params?.[0]) === number;
    return isHeader ? null : undefined;
  };
}

/** Error of a node itself, with the code that clients also send for errors of contracts. */
class NodeError extends Error {
  readonly code = -32_000;
}

const STATE_METHODS = ['eth_call', 'eth_getBalance', 'eth_getCode'];

/** True for a call that reads the state of a numbered block. */
function asksForState(call: Call): boolean {
  return blockOfState(call) !== undefined;
}

function blockOfState({ method, params = [] }: Call): number | undefined {
  return STATE_METHODS.includes(method) ? numberOf(params[1]) : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'string' && value.startsWith('0x') ? Number(value) : undefined;
}

/** Number of the newest block that the node's answers have shown. */
function newestBlock(): (call: Call, answer: unknown) => number {
  let newest = 0;
  return ({ method, params = [] }, answer) => {
    const shown =
      method === 'eth_getBlockByNumber' && params[0] === 'latest' ? Object(answer).number : undefined;
    newest = Math.max(newest, numberOf(shown) ?? 0);
    return newest;
  };
}
