import { numberToHex } from 'viem';

type Entry = Readonly<Record<string, unknown>>;

interface Answer {
  readonly method: string;
  readonly result: unknown;
}

/** A change of a node's answers about one block. */
export interface Lie {
  readonly name: string;
  /** True when the answers contradict each other or the hash, so that the block is not stored. */
  readonly isCertain: boolean;
  /** True when the node is left out once another one tells the truth. */
  readonly isNamed: boolean;
  readonly change: (block: number, answer: Answer) => unknown;
}

type Change = (entry: Entry) => Entry;

const CERTAIN = { isCertain: true, isNamed: true } as const;
/** The header may be of a chain that hashes otherwise. */
const BY_HEADER = { isCertain: false, isNamed: true } as const;
const ZEROS = (bytes: number) => `0x${'00'.repeat(bytes)}`;
const WORD = `0x${'07'.repeat(32)}`;

/** Header fields with false values. */
const HEADER: Entry = {
  baseFeePerGas: '0x7',
  extraData: '0x07',
  gasLimit: '0x7',
  gasUsed: '0x7',
  logsBloom: ZEROS(256),
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

/** Lies about a block with so many transactions, `logs` of which have one log each. */
export function liesAbout({ transactions, logs }: { transactions: number; logs: readonly number[] }): Lie[] {
  const positions = Array.from({ length: transactions }, (_, at) => at);
  return [
    ...logs.map(at => ({
      name: `leaving out the log of receipt ${at}`,
      ...CERTAIN,
      change: ofReceipt(at, withoutLogs),
    })),
    ...logs.map(at => ({
      name: `changing the amount of log ${at}`,
      ...CERTAIN,
      change: ofReceipt(at, withAmount),
    })),
    ...positions.map(at => ({
      name: `changing the status of receipt ${at}`,
      ...CERTAIN,
      change: ofReceipt(at, one => ({ ...one, status: '0x0' })),
    })),
    { name: 'emptying the bloom filter of a receipt', ...CERTAIN, change: ofReceipt(0, withoutBloom) },
    ...positions.map(at => ({ name: `leaving out receipt ${at}`, ...CERTAIN, change: withoutReceipt(at) })),
    ...positions.map(at => ({
      name: `leaving out transaction ${at}`,
      ...CERTAIN,
      change: withoutTransaction(at),
    })),
    ...positions.map(at => ({
      name: `leaving out transaction ${at} and its receipt`,
      ...CERTAIN,
      change: inTurn(withoutTransaction(at), withoutReceipt(at)),
    })),
    ...positions.map(at => ({
      name: `changing the coins of transaction ${at}`,
      ...CERTAIN,
      change: ofTransaction(at, one => ({ ...one, value: '0x777' })),
    })),
    {
      name: 'inventing a withdrawal',
      ...CERTAIN,
      change: ofBlock(block => ({ ...block, withdrawals: [WITHDRAWAL] })),
    },
    ...Object.entries(HEADER).map(([field, value]) => ({
      name: `changing ${field} of the header`,
      ...BY_HEADER,
      change: ofBlock(block => ({ ...block, [field]: value })),
    })),
    ...LATER_FIELDS.map(field => ({
      name: `leaving out ${field} of the header`,
      ...BY_HEADER,
      change: ofBlock(({ [field]: _, ...block }) => block),
    })),
    {
      name: 'changing the hash of the block',
      isCertain: false,
      isNamed: false,
      change: ofBlock(block => ({ ...block, hash: WORD })),
    },
  ];
}

export function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function entries(value: unknown): Entry[] {
  return Array.isArray(value) ? value.filter(isEntry) : [];
}

/** Change of the block, with and without its transactions. */
function ofBlock(change: Change): Lie['change'] {
  return (number, { method, result }) => {
    if (method !== 'eth_getBlockByNumber' || !isEntry(result)) return result;
    if (result.number !== numberToHex(number)) return result;
    return change(result);
  };
}

function ofTransactions(change: (all: readonly unknown[]) => readonly unknown[]): Lie['change'] {
  return ofBlock(block => ({
    ...block,
    transactions: change(Array.isArray(block.transactions) ? block.transactions : []),
  }));
}

function ofTransaction(position: number, change: Change): Lie['change'] {
  return ofTransactions(all => all.map((one, at) => (at === position && isEntry(one) ? change(one) : one)));
}

function withoutTransaction(position: number): Lie['change'] {
  return ofTransactions(all => all.toSpliced(position, 1));
}

/** Change of one receipt, asked for alone or with its block. */
function ofReceipt(position: number, change: Change): Lie['change'] {
  const changed = (number: number, one: Entry) =>
    Number(one.blockNumber) === number && Number(one.transactionIndex) === position ? change(one) : one;
  return (number, { method, result }) => {
    if (method === 'eth_getBlockReceipts') return entries(result).map(one => changed(number, one));
    if (method === 'eth_getTransactionReceipt' && isEntry(result)) return changed(number, result);
    return result;
  };
}

function withoutReceipt(position: number): Lie['change'] {
  return (number, { method, result }) =>
    method === 'eth_getBlockReceipts' &&
    entries(result).some(({ blockNumber }) => Number(blockNumber) === number)
      ? entries(result).toSpliced(position, 1)
      : result;
}

function withoutLogs(receipt: Entry): Entry {
  return { ...receipt, logs: [] };
}

function withoutBloom(receipt: Entry): Entry {
  return { ...receipt, logsBloom: ZEROS(256) };
}

function withAmount(receipt: Entry): Entry {
  return { ...receipt, logs: entries(receipt.logs).map(one => ({ ...one, data: WORD })) };
}

function inTurn(...changes: readonly Lie['change'][]): Lie['change'] {
  return (number, { method, result }) =>
    changes.reduce((changed, change) => change(number, { method, result: changed }), result);
}
