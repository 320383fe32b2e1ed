import { type Hash, numberToHex, type RpcLog, type RpcTransaction, type RpcTransactionReceipt } from 'viem';
import type { RpcBlock, RpcTransaction as RpcTransactionInBlock } from '#evm/rpc.ts';
import { type CoinLogFields, hasCoinLogs } from '../../../evm/coin-logs.ts';
import type { AskChecked, BlockSeen } from './checked-blocks.ts';
import type { NodePool, RawNode, NodeRequest as Request } from './node-pool.ts';
import {
  asAddress,
  type BlockRange,
  type FoundLogs,
  type TransferFilter,
  transferLogs,
} from './transfer-logs.ts';

/** Number, hash and time of a block. The hash is lower case, the time in UTC milliseconds. */
export interface Header {
  readonly number: number;
  readonly hash: string;
  readonly time: number;
}

/** A header with the lower-case hash of its parent. */
export interface LinkedHeader extends Header {
  readonly parentHash: string;
  /** True when each transfer of coins in the block has a log. */
  readonly hasCoinLogs: boolean;
}

/** A block with its transactions. */
export interface FullBlock extends LinkedHeader {
  readonly transactions: readonly RpcTransactionInBlock[];
}

/** A block with the lower-case hashes of its transactions, in their order. */
export interface BlockOutline extends LinkedHeader {
  readonly hashes: readonly string[];
}

export type { RpcLog, RpcTransaction, RpcTransactionReceipt };

/**
 * Requests to the nodes of a chain, each answered by one node. Blocks and transactions that the node lacks are missing
 * in the answers.
 * @throws WrongChain, or the error of the first node
 */
export interface NodeView extends NodeReads {
  /** The same requests to each node alone, the preferred one first. */
  eachNode(): readonly NodeReads[];
}

export interface NodeReads {
  /** The newest block by the tag `latest`. The meanings of `safe` and `pending` differ between providers. */
  head(): Promise<LinkedHeader>;
  headers(numbers: Iterable<number>): Promise<Map<number, LinkedHeader>>;
  /** Undefined when the node lacks it. @throws AnswerTooLarge */
  block(number: number): Promise<FullBlock | undefined>;
  /** A block with the hashes of its transactions only. */
  outline(number: number): Promise<BlockOutline | undefined>;
  /**
   * Transfers of these tokens to these recipients, and from these senders if any are named, without those in skipped blocks, and the header of the last block
   * from the same node.
   */
  logs(
    range: BlockRange,
    filter: TransferFilter,
    skipped: ReadonlySet<number>,
  ): Promise<FoundLogs & { readonly last: Header | undefined }>;
  /** By lower-case hash. */
  receipts(hashes: Iterable<string>): Promise<Map<string, RpcTransactionReceipt>>;
  /** By lower-case hash. Transactions in the pool have no block. */
  transactions(hashes: Iterable<string>): Promise<Map<string, RpcTransaction>>;
  /** Number of an account's transactions in the blocks up to that one. */
  nonceOf(address: string, block: number): Promise<number>;
  /** Asks for what only some nodes have: one node, and the next one when it fails. */
  askRaw<T>(questions: (node: RawNode) => Promise<T>): Promise<T>;
}

/** Nodes refuse longer lists of topics. */
const ADDRESSES_PER_QUESTION = 500;
/** Requests in flight at a time: five full batches. */
const QUESTIONS_AT_A_TIME = 500;

/**
 * Reads through a pool whose clients send the requests of one tick as a batch. Blocks are not recomputed when `ask` is
 * absent.
 */
export function nodeView(pool: Pick<NodePool, 'ask' | 'each'>, ask = unchecked(pool)): NodeView {
  return { ...nodeReads(ask), eachNode: () => pool.each().map(one => nodeReads(unchecked(one))) };
}

function unchecked({ ask }: Pick<NodePool, 'ask'>): AskChecked {
  return questions => ask((request, node) => questions(request, node, () => undefined));
}

function nodeReads(ofOneNode: AskChecked): NodeReads {
  /** The answers for all items. Those of one slice come from the same node. */
  const askedFor = <T, R>(
    items: readonly T[],
    size: number,
    ask: (request: Request, item: T) => Promise<R>,
  ) =>
    inSlices(items, size, slice => ofOneNode(request => Promise.all(slice.map(item => ask(request, item)))));

  return {
    async head() {
      const header = headerOf(
        await ofOneNode((_, node, saw) => blockAt(node, { number: 'latest', isFull: false }, saw)),
      );
      if (header === undefined) throw new Error('The node has no latest block.');
      return header;
    },

    async headers(numbers) {
      const found = await inSlices([...new Set(numbers)], QUESTIONS_AT_A_TIME, slice =>
        ofOneNode((_, node, saw) => Promise.all(slice.map(number => headerAt(node, number, saw)))),
      );
      return new Map(found.flatMap(header => (header === undefined ? [] : [[header.number, header]])));
    },

    async block(number) {
      const block = await ofOneNode((_, node, saw) => blockAt(node, { number, isFull: true }, saw));
      const header = headerOf(block);
      if (header === undefined || block === null) return undefined;
      const transactions: RpcTransactionInBlock[] = [];
      for (const one of block.transactions) if (typeof one === 'object') transactions.push(one);
      return { ...header, transactions };
    },

    async outline(number) {
      const block = await ofOneNode((_, node, saw) => blockAt(node, { number, isFull: false }, saw));
      const header = headerOf(block);
      if (header === undefined || block === null) return undefined;
      const hashes: string[] = [];
      for (const one of block.transactions) if (typeof one === 'string') hashes.push(one.toLowerCase());
      return { ...header, hashes };
    },

    async logs(range, { tokens, recipients, senders }, skipped) {
      const senderParts =
        senders === undefined
          ? [{}]
          : slices(senders, ADDRESSES_PER_QUESTION).map(some => ({ senders: some }));
      const filters = slices(recipients, ADDRESSES_PER_QUESTION).flatMap(some =>
        senderParts.map(part => ({ tokens, recipients: some, ...part })),
      );
      const asked = { filters: tokens.length === 0 ? [] : filters, skipped };
      const [last, found] = await ofOneNode((request, node, saw) =>
        Promise.all([headerAt(node, range.to, saw), transferLogs(request, range, asked)]),
      );
      return { ...found, last };
    },

    async receipts(hashes) {
      const found = await askedFor([...hashes].filter(isHash), QUESTIONS_AT_A_TIME, (request, hash) =>
        request({ method: 'eth_getTransactionReceipt', params: [hash] }),
      );
      return new Map(found.flatMap(one => (one === null ? [] : [[one.transactionHash.toLowerCase(), one]])));
    },

    async transactions(hashes) {
      const found = await askedFor([...hashes].filter(isHash), QUESTIONS_AT_A_TIME, (request, hash) =>
        request({ method: 'eth_getTransactionByHash', params: [hash] }),
      );
      return new Map(found.flatMap(one => (one === null ? [] : [[one.hash.toLowerCase(), one]])));
    },

    async nonceOf(address, block) {
      const params = [asAddress(address), numberToHex(block)] as const;
      const asked = ofOneNode(request => request({ method: 'eth_getTransactionCount', params: [...params] }));
      return Number(await asked);
    },

    askRaw: questions => ofOneNode((_, node) => questions(node)),
  };
}

async function headerAt(node: RawNode, number: number, saw: BlockSeen): Promise<LinkedHeader | undefined> {
  return headerOf(await blockAt(node, { number, isFull: false }, saw));
}

async function blockAt(
  { raw }: RawNode,
  { number, isFull }: { readonly number: number | 'latest'; readonly isFull: boolean },
  saw: BlockSeen,
): Promise<RpcBlock | null> {
  const params = [number === 'latest' ? number : numberToHex(number), isFull] as const;
  const block = await raw({ method: 'eth_getBlockByNumber', params: [...params] });
  saw(block);
  return block;
}

function headerOf(
  block: (Pick<RpcBlock, 'number' | 'hash' | 'parentHash' | 'timestamp'> & CoinLogFields) | null,
): LinkedHeader | undefined {
  if (block === null || block.number === null || block.hash === null) return undefined;
  return {
    number: Number(block.number),
    hash: block.hash.toLowerCase(),
    parentHash: block.parentHash.toLowerCase(),
    time: Number(block.timestamp) * 1000,
    hasCoinLogs: hasCoinLogs(block),
  };
}

function isHash(text: string): text is Hash {
  return /^0x[0-9a-f]{64}$/i.test(text);
}

/** Splits items into lists of at most `size`. */
export function slices<T>(items: readonly T[], size: number): T[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** The answers for all items, requested one slice after another. */
async function inSlices<T, R>(
  items: readonly T[],
  size: number,
  ask: (slice: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const answers: R[] = [];
  for (const slice of slices(items, size)) answers.push(...(await ask(slice)));
  return answers;
}
