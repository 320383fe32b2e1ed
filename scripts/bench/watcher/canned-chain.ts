import { createServer } from 'node:http';
import { loopbackPort } from '#test/lab/loopback-server.ts';

/** A payment to put into a block. `token` is undefined for the chain's coin. */
export interface CannedPayment {
  readonly token: string | undefined;
  readonly from: string;
  readonly to: string;
  readonly amount: string;
}

/** Method that adds a block. Parameters: its payments, its time in milliseconds, and its number of transactions. */
export const MINE = 'bench_mine';
/** End of the hashes that are always in the pool. Such a hash begins with its sender's address. */
export const IN_POOL = 'f00d'.repeat(6);

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params?: readonly unknown[];
}

interface CannedTransaction {
  readonly hash: string;
  readonly from: string;
  readonly to: string;
  readonly value: string;
}

interface CannedLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly transactionIndex: string;
  readonly logIndex: string;
  readonly removed: boolean;
}

interface CannedBlock {
  readonly header: object;
  readonly transactions: readonly CannedTransaction[];
  readonly logs: readonly CannedLog[];
}

const TRANSFER_TOPIC = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
/** Call data of a `transfer`, of realistic length. */
const INPUT = `0xa9059cbb${'0'.repeat(24)}${'5e'.repeat(20)}${'0'.repeat(58)}2625a0`;
const LATENCY_MS = 2;

/**
 * Serves the node of a simulated chain. All answers take the same time, and use no CPU time of the client's process.
 */
export async function serveCannedChain(chainId: number): Promise<{ url: string; close(): Promise<void> }> {
  const blocks: CannedBlock[] = [block(0, Date.now(), { payments: [], count: 0 })];
  const receipts = new Map<string, object>();

  function answer({ method, params = [] }: Call): unknown {
    const [first, second] = params;
    switch (method) {
      case MINE:
        return mine(params as Parameters<typeof mine>[0]);
      case 'eth_chainId':
        return hex(chainId);
      case 'eth_getBlockByNumber':
        return shownBlock(blocks.at(first === 'latest' ? -1 : Number(first)), second === true);
      case 'eth_getLogs':
        return logsOf(first as Parameters<typeof logsOf>[0]);
      case 'eth_getTransactionReceipt':
        return receipts.get(String(first)) ?? null;
      case 'eth_getTransactionByHash':
        return pooled(String(first));
      case 'eth_getTransactionCount':
        return '0x0';
      default:
        throw new Error(`the canned node does not know ${method}`);
    }
  }

  function mine([payments, time, count]: [payments: CannedPayment[], time: number, count: number]): number {
    const made = block(blocks.length, time, { payments, count });
    blocks.push(made);
    for (const one of made.transactions) {
      const logs = made.logs.filter(log => log.transactionHash === one.hash);
      receipts.set(one.hash, {
        ...one,
        ...placeOf(blocks.length - 1),
        transactionHash: one.hash,
        status: '0x1',
        logs,
      });
    }
    return blocks.length - 1;
  }

  function logsOf(filter: {
    fromBlock: string;
    toBlock: string;
    address: string[];
    topics: [string, null, string[]];
  }): CannedLog[] {
    const recipients = new Set(filter.topics[2]);
    return blocks
      .slice(Number(filter.fromBlock), Number(filter.toBlock) + 1)
      .flatMap(({ logs }) => logs)
      .filter(log => filter.address.includes(log.address) && recipients.has(log.topics[2] ?? ''));
  }

  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const asked: Call | Call[] = JSON.parse(Buffer.concat(chunks).toString());
    const answered = (call: Call) => ({ jsonrpc: '2.0', id: call.id, result: answer(call) });
    const body = JSON.stringify(Array.isArray(asked) ? asked.map(answered) : answered(asked));
    setTimeout(() => response.end(body), LATENCY_MS);
  });
  const port = await loopbackPort(server);
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function block(
  number: number,
  time: number,
  { payments, count }: { payments: readonly CannedPayment[]; count: number },
): CannedBlock {
  const transactions: CannedTransaction[] = [];
  const logs: CannedLog[] = [];
  for (let index = 0; index < count; index++) {
    const payment = payments[index];
    const hash = hashOf('7a', number * 1_000 + index);
    const from = payment?.from ?? addressOf('f0', index);
    if (payment?.token === undefined) {
      const value = payment === undefined ? hex(10n ** 15n + BigInt(index)) : hex(BigInt(payment.amount));
      transactions.push({ hash, from, to: payment?.to ?? addressOf('70', index), value });
      continue;
    }
    transactions.push({ hash, from, to: payment.token, value: '0x0' });
    logs.push({
      address: payment.token,
      topics: [TRANSFER_TOPIC, wordOf(from), wordOf(payment.to)],
      data: `0x${BigInt(payment.amount).toString(16).padStart(64, '0')}`,
      ...placeOf(number),
      transactionHash: hash,
      transactionIndex: hex(index),
      logIndex: hex(logs.length),
      removed: false,
    });
  }
  const header = {
    number: hex(number),
    hash: hashOf('b1', number),
    parentHash: hashOf('b1', number - 1),
    timestamp: hex(Math.floor(time / 1_000)),
    miner: addressOf('31', 0),
    gasLimit: '0x1c9c380',
    gasUsed: '0xe4e1c0',
    baseFeePerGas: '0x3b9aca00',
    logsBloom: `0x${'0'.repeat(512)}`,
    extraData: '0x',
    size: '0x5208',
  };
  return { header, transactions, logs };
}

function shownBlock(found: CannedBlock | undefined, isFull: boolean): object | null {
  if (found === undefined) return null;
  const { header, transactions } = found;
  if (!isFull) return { ...header, transactions: transactions.map(({ hash }) => hash) };
  return {
    ...header,
    transactions: transactions.map((one, index) => ({ ...COMMON, ...one, transactionIndex: hex(index) })),
  };
}

/** Other fields of a transaction. */
const COMMON = {
  type: '0x2',
  chainId: '0x7a69',
  gas: '0x186a0',
  gasPrice: '0x3b9aca07',
  maxFeePerGas: '0x77359400',
  maxPriorityFeePerGas: '0x3b9aca00',
  accessList: [],
  input: INPUT,
  nonce: '0x7',
  v: '0x1',
  yParity: '0x1',
  r: `0x${'1b'.repeat(32)}`,
  s: `0x${'2c'.repeat(32)}`,
};

function pooled(hash: string): object | null {
  if (!hash.endsWith(IN_POOL)) return null;
  const place = { blockNumber: null, blockHash: null, transactionIndex: null };
  return { ...COMMON, hash, from: hash.slice(0, 42), to: addressOf('70', 0), value: '0x1', ...place };
}

function placeOf(number: number) {
  return { blockNumber: hex(number), blockHash: hashOf('b1', number) };
}

function hex(number: number | bigint): string {
  return `0x${number.toString(16)}`;
}

function hashOf(prefix: string, number: number): string {
  return `0x${prefix}${Math.max(0, number).toString(16).padStart(62, '0')}`;
}

function addressOf(prefix: string, number: number): string {
  return `0x${prefix}${number.toString(16).padStart(38, '0')}`;
}

function wordOf(address: string): string {
  return `0x${address.slice(2).padStart(64, '0')}`;
}
