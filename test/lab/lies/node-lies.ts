import { numberToHex } from 'viem';
import {
  type Change,
  type Entry,
  type LieAbout,
  listOf,
  ofBlock,
  ofFoundLog,
  ofReceipt,
  ofTransaction,
  only,
  together,
  withoutBlocks,
  withoutReceipt,
  withoutTransaction,
} from './changed-answers.ts';
import { falseFork, mixedForks, partOfFork } from './false-fork.ts';

/** A way in which a node lies. */
export interface NodeLie {
  /** Predicate of "a node that …". */
  readonly name: string;
  readonly kind: LieKind;
  readonly about: LieAbout;
}

/**
 * What the answers of the node about a block show, when they are read whole.
 * - `contents`: they contradict the hash of the block.
 * - `receipt`: they do where receipts are asked for by their block. A single one may be missing for many reasons.
 * - `header`: the fields of the header have another hash. The chain may hash otherwise.
 * - `hash`: the same, with another hash than other nodes name.
 * - `search`: nothing, because only searches for logs are false.
 * - `head`: nothing, because the node knows no such block.
 * - `fork`: nothing, because the hashes of another fork are as true as those of the chain.
 * - `mixture`: answers that are true of one of two forks, and do not fit together.
 */
type LieKind = 'contents' | 'receipt' | 'header' | 'hash' | 'search' | 'head' | 'fork' | 'mixture';

/** Block about which nodes lie. */
interface LiedBlock {
  /** Its number of transactions. */
  readonly transactions: number;
  /** Positions of those with a log. */
  readonly logs: readonly number[];
  /** Amount that a doctored log or transaction shows. */
  readonly amount?: bigint;
}

const ZEROS = `0x${'00'.repeat(256)}`;
const WORD = `0x${'07'.repeat(32)}`;

/** Header fields with false values. */
const HEADER: Entry = {
  baseFeePerGas: '0x7',
  extraData: '0x07',
  gasLimit: '0x7',
  gasUsed: '0x7',
  miner: `0x${'07'.repeat(20)}`,
  mixHash: WORD,
  nonce: '0x0000000000000007',
  receiptsRoot: WORD,
  sha3Uncles: WORD,
  stateRoot: WORD,
  timestamp: '0x7fffffff',
  transactionsRoot: WORD,
};
/** Header fields that a node of an older version leaves out. */
const LATER_FIELDS = ['withdrawalsRoot', 'parentBeaconBlockRoot', 'requestsHash'];
const WITHDRAWAL = { index: '0x0', validatorIndex: '0x1', address: `0x${'07'.repeat(20)}`, amount: '0x7' };
/** Methods whose answers a node takes from another fork, with a name for them. */
const PARTS = [
  ['for blocks', ['eth_getBlockByNumber', 'eth_getBlockByHash']],
  ['for receipts', ['eth_getBlockReceipts', 'eth_getTransactionReceipt']],
  ['for logs', ['eth_getLogs']],
] as const;

/** Every lie that indexes and payments are tested with, about each part of such a block in turn. */
export function nodeLies({ transactions, logs, amount = BigInt(WORD) }: LiedBlock): readonly NodeLie[] {
  const positions = Array.from({ length: transactions }, (_, at) => at);
  const value = numberToHex(amount);
  const doctored = (log: Entry) => ({ ...log, data: numberToHex(amount, { size: 32 }) });
  const each = (kind: LieKind, list: readonly number[], lies: Lies): NodeLie[] =>
    Object.entries(lies).flatMap(([name, about]) =>
      list.map(at => ({ name: name.replace('#', `${at}`), kind, about: about(at) })),
    );
  return [
    ...each('contents', logs, {
      'leaves log # out of receipts': withoutReceiptLogs,
      'leaves log # out everywhere': at => together(withoutReceiptLogs(at), withoutFoundLog(at)),
      'changes the amount of log # in receipts': at => ofReceipt(at, ofLogs(doctored)),
      'changes the amount of log # everywhere': at =>
        together(ofReceipt(at, ofLogs(doctored)), ofFoundLog(at, doctored)),
    }),
    ...each('search', logs, {
      'leaves log # out of searches': withoutFoundLog,
      'changes the amount of log # in searches': at => ofFoundLog(at, doctored),
    }),
    ...each('contents', positions, {
      'changes the status of receipt #': at => ofReceipt(at, one => ({ ...one, status: '0x0' })),
      'leaves out transaction #': withoutTransaction,
      'leaves out transaction # with its receipt': at => together(withoutTransaction(at), withoutReceipt(at)),
      'leaves out transaction # with its receipt and log': at =>
        together(withoutTransaction(at), withoutReceipt(at), withoutFoundLog(at)),
      'changes the coins of transaction #': at => ofTransaction(at, one => ({ ...one, value })),
    }),
    ...each('receipt', positions, { 'leaves out receipt #': withoutReceipt }),
    { name: 'sends blooms of zeros in receipts', kind: 'contents', about: zerosInReceipts(positions) },
    {
      name: 'invents a withdrawal',
      kind: 'contents',
      about: ofBlock(block => ({ ...block, withdrawals: [WITHDRAWAL] })),
    },
    { name: 'sends a bloom of zeros in the header', kind: 'header', about: ofBlock(withoutBloom) },
    {
      name: 'sends blooms of zeros, and no log',
      kind: 'header',
      about: together(
        ofBlock(withoutBloom),
        zerosInReceipts(positions),
        ...logs.flatMap(at => [withoutReceiptLogs(at), withoutFoundLog(at)]),
      ),
    },
    ...Object.entries(HEADER).map(
      ([field, false_]): NodeLie => ({
        name: `changes ${field} of the header`,
        kind: 'header',
        about: ofBlock(block => ({ ...block, [field]: false_ })),
      }),
    ),
    ...LATER_FIELDS.map(
      (field): NodeLie => ({
        name: `leaves ${field} out of the header`,
        kind: 'header',
        about: ofBlock(({ [field]: _, ...block }) => block),
      }),
    ),
    {
      name: 'changes the hash of the block',
      kind: 'hash',
      about: ofBlock(block => ({ ...block, hash: WORD })),
    },
    { name: 'hides its newest block', kind: 'head', about: withoutBlocks },
    {
      name: 'names a newest block that it does not have',
      kind: 'head',
      about: only(['eth_getBlockByHash', 'eth_getBlockReceipts', 'eth_getLogs'], withoutBlocks),
    },
    { name: 'answers for another fork', kind: 'fork', about: falseFork },
    ...PARTS.map(
      ([name, methods]): NodeLie => ({
        name: `answers for another fork ${name} only`,
        kind: 'mixture',
        about: partOfFork(methods),
      }),
    ),
    { name: 'mixes two forks, request by request', kind: 'mixture', about: mixedForks('request') },
    { name: 'mixes two forks, call by call', kind: 'mixture', about: mixedForks('call') },
  ];
}

type Lies = Readonly<Record<string, (position: number) => LieAbout>>;

function withoutBloom(entry: Entry): Entry {
  return { ...entry, logsBloom: ZEROS };
}

function zerosInReceipts(positions: readonly number[]): LieAbout {
  return together(...positions.map(at => ofReceipt(at, withoutBloom)));
}

function withoutReceiptLogs(position: number): LieAbout {
  return ofReceipt(position, one => ({ ...one, logs: [] }));
}

function withoutFoundLog(position: number): LieAbout {
  return ofFoundLog(position, () => null);
}

function ofLogs(change: Change): Change {
  return receipt => ({ ...receipt, logs: listOf(receipt.logs).map(log => change(Object(log))) });
}

/** One lie of each sort, for tests that must be quick: about the first part, or one field of the header. */
export function samplesOf(lies: readonly NodeLie[]): readonly NodeLie[] {
  const sorts = Map.groupBy(lies, ({ kind, name }) => (kind === 'header' ? kind : name.replace(/\d+/, '')));
  return [...sorts.values()].flatMap(([first]) => first ?? []);
}
