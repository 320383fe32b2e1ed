import { isObject } from '#lib/json.ts';
import type { Lie } from '../faulty-node.ts';

export type Entry = Readonly<Record<string, unknown>>;
export type Change = (entry: Entry) => Entry;

/** Blocks about which a node lies, inclusive at both ends. */
export interface LiedAbout {
  readonly from: number;
  /** Infinite for all that follow. */
  readonly to: number;
}

/** A lie, once it is known about which blocks. */
export type LieAbout = (blocks: LiedAbout) => Lie;

const BLOCK_METHODS = ['eth_getBlockByNumber', 'eth_getBlockByHash'];
const ONE_METHODS = ['eth_getTransactionReceipt', 'eth_getTransactionByHash'];

/** Tells the lies one after another, each about the answer of the one before. */
export function together(...lies: readonly LieAbout[]): LieAbout {
  return blocks => {
    const all = lies.map(lie => lie(blocks));
    return async (call, answer, node) => {
      let told = answer;
      for (const lie of all) {
        const next = await lie(call, told, node);
        if (next !== undefined) told = next;
      }
      return told;
    };
  };
}

/** Tells a lie in answers of these methods only. */
export function only(methods: readonly string[], lie: LieAbout): LieAbout {
  return blocks => {
    const told = lie(blocks);
    return (call, answer, node) => (methods.includes(call.method) ? told(call, answer, node) : undefined);
  };
}

/** Changes a block, with and without its transactions. */
export function ofBlock(change: Change): LieAbout {
  return blocks =>
    ({ method }, answer) =>
      BLOCK_METHODS.includes(method) && isObject(answer) && isIn(blocks, answer.number)
        ? change({ ...answer })
        : undefined;
}

/** Changes the transaction at a position in its block, and alone. */
export function ofTransaction(position: number, change: Change): LieAbout {
  return together(
    ofBlock(block => ({
      ...block,
      transactions: listOf(block.transactions).map((one, at) =>
        at === position && isObject(one) ? change({ ...one }) : one,
      ),
    })),
    one('eth_getTransactionByHash', position, change),
  );
}

export function withoutTransaction(position: number): LieAbout {
  return together(
    ofBlock(block => ({ ...block, transactions: listOf(block.transactions).toSpliced(position, 1) })),
    one('eth_getTransactionByHash', position, () => null),
  );
}

/** Changes the receipt at a position in its block, asked for with it and alone. */
export function ofReceipt(position: number, change: Change): LieAbout {
  return together(
    blocks =>
      ({ method }, answer) =>
        method === 'eth_getBlockReceipts' && Array.isArray(answer)
          ? answer.map(receipt => (isAt(receipt, position, blocks) ? change({ ...receipt }) : receipt))
          : undefined,
    one('eth_getTransactionReceipt', position, change),
  );
}

export function withoutReceipt(position: number): LieAbout {
  return together(
    blocks =>
      ({ method }, answer) =>
        method === 'eth_getBlockReceipts' && Array.isArray(answer)
          ? answer.filter(receipt => !isAt(receipt, position, blocks))
          : undefined,
    one('eth_getTransactionReceipt', position, () => null),
  );
}

/** Changes logs of a transaction in searches; null leaves one out. */
export function ofFoundLog(position: number, change: (log: Entry) => Entry | null): LieAbout {
  return blocks =>
    ({ method }, answer) =>
      method === 'eth_getLogs' && Array.isArray(answer)
        ? answer.flatMap(log => (isAt(log, position, blocks) ? (change({ ...log }) ?? []) : log))
        : undefined;
}

/** Leaves out the first of these blocks and all that follow, so that the newest one is the one before. */
export function withoutBlocks({ from }: LiedAbout): Lie {
  const blocks = { from, to: Number.POSITIVE_INFINITY };
  return async ({ method, params = [] }, answer, node) => {
    const [first] = params;
    if (method === 'eth_blockNumber') return hex(Math.min(Number(answer), from - 1));
    if (method === 'eth_getBlockReceipts' && isIn(blocks, first)) return null;
    if (method === 'eth_getLogs') return listOf(answer).filter(log => !isIn(blocks, numberOf(log)));
    if (ONE_METHODS.includes(method) && isIn(blocks, numberOf(answer))) return null;
    if (!BLOCK_METHODS.includes(method) || !isObject(answer) || !isIn(blocks, answer.number))
      return undefined;
    return first === 'latest' ? await node.ask(method, hex(from - 1), params[1]) : null;
  };
}

function one(method: string, position: number, change: (entry: Entry) => Entry | null): LieAbout {
  return blocks => (call, answer) =>
    call.method === method && isAt(answer, position, blocks) ? change({ ...answer }) : undefined;
}

/** True for a receipt, log or transaction at this position of one of the blocks. */
function isAt(value: unknown, position: number, blocks: LiedAbout): value is Entry {
  return (
    isObject(value) && isIn(blocks, numberOf(value)) && Number(Object(value).transactionIndex) === position
  );
}

/** True for the number of such a block, as nodes write it; false for a tag and for a hash. */
export function isIn({ from, to }: LiedAbout, number: unknown): boolean {
  return isQuantity(number) && Number(number) >= from && Number(number) <= to;
}

function isQuantity(value: unknown): value is string {
  return typeof value === 'string' && /^0x[0-9a-f]{1,15}$/i.test(value);
}

/** Number of the block of a receipt, log or transaction. */
export function numberOf(value: unknown): unknown {
  return Object(value).blockNumber;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function hex(number: number): string {
  return `0x${number.toString(16)}`;
}
