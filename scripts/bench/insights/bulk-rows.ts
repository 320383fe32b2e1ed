import { hash } from 'node:crypto';
import { type ColumnValue, uintColumn } from '#db/columns.ts';
import { positionKey } from '#indexer/schema/block-position.ts';

export const TRANSACTIONS_PER_BLOCK = 10;
/** Senders of all transactions except those of the wallets. */
const SENDERS = 5_000;
/**
 * Number of wallets and of contracts with events. Each has the same number of rows in an index of any size, spread
 * evenly.
 */
export const SPOTS = 16;
/** Transactions of a wallet (half sent, half received, some of them both), and events of a contract. */
const ROWS_A_SPOT = 2_000;
/** First party in every fourth event of a contract. */
export const PARTY = word('party 0');
export const EVENT = word('event');

const TOKENS = 100;
const BLOCK_SECONDS = 12;
const START_SECONDS = 1_700_000_000;
const ETHER = 10n ** 18n;
const SELECTOR = Buffer.from('a9059cbb', 'hex');
const TRANSFER = word('Transfer');
const BLOOM = Buffer.alloc(256, 1);
const NOTHING = Buffer.alloc(0);

const addresses = (kind: string, count: number) =>
  Array.from({ length: count }, (_, index) => word(`${kind} ${index}`).subarray(0, 20));
const SENDER = addresses('sender', SENDERS);
const TOKEN = addresses('token', TOKENS);
const PARTIES = [PARTY, word('party 1'), word('party 2'), word('party 3')];
export const WALLETS = addresses('wallet', SPOTS);
export const CONTRACTS = addresses('contract', SPOTS);

/** Rows of one block of an index with `transactions` transactions, by table, in the order of the tables' columns. */
export function bulkBlock(number: number, transactions: number) {
  const timestamp = (START_SECONDS + number * BLOCK_SECONDS) * 1000;
  const positions = Array.from({ length: TRANSACTIONS_PER_BLOCK }, (_, position) => position);
  const all = positions.map(position => bulkTransaction({ number, position, timestamp, transactions }));
  return {
    blocks: [blockRow(number, timestamp)],
    block_details: [[number, ...Array<ColumnValue>(4).fill(word('root')), null, BLOOM]],
    transactions: all.map(({ row }) => row),
    transaction_details: all.map(({ details }) => details),
    logs: all.flatMap(({ logs }) => logs),
  };
}

function blockRow(number: number, timestamp: number): ColumnValue[] {
  const [hashed, parent] = [word(`block ${number}`), word(`block ${number - 1}`)];
  const miner = at(SENDER, number % 7);
  const gas: ColumnValue[] = [
    uintColumn(30_000_000n),
    21_000 * TRANSACTIONS_PER_BLOCK,
    uintColumn(10n ** 9n),
  ];
  const seal: ColumnValue[] = [uintColumn(0n), null, Buffer.alloc(8), NOTHING, word('state'), 4_096, '[]'];
  const counts: ColumnValue[] = [TRANSACTIONS_PER_BLOCK, 0, null];
  const fees: ColumnValue[] = [uintColumn(ETHER), uintColumn(ETHER / 2n), uintColumn(ETHER / 2n), null, null];
  return [number, hashed, parent, timestamp, miner, ...gas, ...seal, ...counts, ...fees];
}

function bulkTransaction(of: { number: number; position: number; timestamp: number; transactions: number }) {
  const { number, position, timestamp, transactions } = of;
  const ordinal = number * TRANSACTIONS_PER_BLOCK + position;
  const id = positionKey({ blockNumber: number, index: position });
  const random = hash('sha256', `transaction ${ordinal}`, 'buffer');
  const spot = spotOf(ordinal, transactions);
  const anyone = at(SENDER, random.readUInt32BE(0));
  const sent = spot !== undefined && spot.turn % 2 === 0;
  const received = spot !== undefined && (spot.turn % 2 === 1 || spot.turn % 16 === 0);
  const from = sent ? at(WALLETS, spot.index) : anyone;
  const token = at(TOKEN, random.readUInt32BE(4));
  const to = received ? at(WALLETS, spot.index) : token;
  const value = (ETHER * BigInt(random.readUInt32BE(8))) / 10_000n;
  const input = Buffer.concat([SELECTOR, Buffer.alloc(12), from, random]);
  const gas: ColumnValue[] = [
    uintColumn(100_000n),
    21_000 + random.readUInt16BE(12),
    uintColumn(2n * 10n ** 9n),
  ];
  const most: ColumnValue[] = [
    uintColumn(3n * 10n ** 9n),
    uintColumn(10n ** 9n),
    null,
    null,
    null,
    null,
    null,
  ];
  const outcome: ColumnValue[] = [
    2,
    1,
    uintColumn(42_000n * 10n ** 9n),
    input,
    SELECTOR,
    null,
    null,
    null,
    null,
  ];
  const amount = Buffer.concat([Buffer.alloc(16), random.subarray(16)]);
  const log = (index: number, address: Buffer, topics: ColumnValue[]): ColumnValue[] => [
    positionKey({ blockNumber: number, index: position * 2 + index }),
    id,
    timestamp,
    null,
    address,
    ...topics,
    amount,
  ];
  return {
    row: [
      id,
      random,
      timestamp,
      from,
      to,
      uintColumn(value),
      uintColumn(BigInt(number)),
      ...gas,
      ...most,
      ...outcome,
      0,
      1,
      null,
    ],
    details: [id, word('r'), word('s'), uintColumn(1n), 21_000 * (position + 1), null, BLOOM],
    logs: [
      log(0, token, [TRANSFER, padded(from), padded(to), null]),
      spot === undefined
        ? log(1, to, [TRANSFER, padded(to), padded(from), null])
        : log(1, at(CONTRACTS, spot.index), [EVENT, at(PARTIES, spot.turn >> 1), padded(from), null]),
    ],
  };
}

/**
 * Wallet or contract of a transaction; undefined when it has none. Those that have one are spread evenly over the
 * index.
 */
function spotOf(ordinal: number, transactions: number): { index: number; turn: number } | undefined {
  const all = SPOTS * ROWS_A_SPOT;
  const turn = Math.ceil((ordinal * all) / transactions);
  if (Math.floor((turn * transactions) / all) !== ordinal || turn >= all) return undefined;
  return { index: turn % SPOTS, turn: Math.floor(turn / SPOTS) };
}

function word(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function padded(address: Buffer): Buffer {
  return Buffer.concat([Buffer.alloc(12), address]);
}

/** Element at an index of any size, modulo the length. */
function at<Element>(list: readonly Element[], index: number): Element {
  const element = list[index % list.length];
  if (element === undefined) throw new RangeError('the list is empty');
  return element;
}
