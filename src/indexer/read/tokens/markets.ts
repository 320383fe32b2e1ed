import type { Address, Hex } from 'viem';
import { bytesColumn, hexOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { placeholders } from '#db/rows.ts';
import { readRows, unionAll } from '#db/select/select.ts';
import { DAY_MS } from '#lib/clock.ts';
import { readHead } from '../../schema/head.ts';
import { select } from '../../schema/select.ts';

/** Source of prices: the factory of the pairs, and the token that represents a dollar. */
export interface Exchange {
  readonly factory: Address;
  readonly usdToken: Address;
  /** Native coin, and the token that wraps it. */
  readonly native?: { readonly symbol: string; readonly wrapped: Address } | undefined;
}

/** Request for the factory's pairs of these tokens with a base, for example with the dollar. */
export interface PairsQuery {
  readonly factory: Address;
  readonly base: Address;
  readonly tokens: readonly Address[];
}

/** A pair of a token with a base. */
export interface PairRow {
  address: Address;
  token: Address;
  isBaseFirst: boolean;
}

/** A time on the chain. */
export interface BlockAtTime {
  /** Requested time, but not later than the newest block. UTC milliseconds. */
  time: number;
  /** Last block at or before `time`. */
  blockNumber: number;
  /** True for the newest block, so that the index's current state applies. */
  isHead: boolean;
}

/** Amounts that a pair holds, in the smallest units. `timestamp` is the time of the last change in UTC milliseconds. */
export interface Reserves {
  base: bigint;
  token: bigint;
  timestamp: number;
}

/** Sync(uint112,uint112) of a pair. */
const SYNC = '0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1';

/** Block at a time (UTC milliseconds), or the newest block by default. Null before the first block. */
export async function blockAtTime(
  handle: Handle,
  time: number = Number.MAX_SAFE_INTEGER,
): Promise<BlockAtTime | null> {
  const head = await readHead(handle);
  if (head === null) return null;
  if (head.timestamp <= time) return { time: head.timestamp, blockNumber: head.number, isHead: true };
  const [block] = await select({ from: 'blocks', columns: ['number'] }).rows(
    handle,
    'where timestamp <= ? order by timestamp desc, number desc limit 1',
    [time],
  );
  return block === undefined ? null : { time, blockNumber: block.number, isHead: false };
}

/**
 * Pairs of these tokens with the base. A factory of this kind creates one pair per token, but nothing guarantees it.
 */
export async function pairs(handle: Handle, { factory, base, tokens }: PairsQuery): Promise<PairRow[]> {
  if (tokens.length === 0) return [];
  const among = placeholders(tokens.length);
  const wanted = tokens.map(bytesColumn);
  const [maker, other] = [bytesColumn(factory), bytesColumn(base)];
  const baseFirst = `where factory = ? and first_token = ? and second_token in (${among})`;
  const baseSecond = `where factory = ? and first_token in (${among}) and second_token = ?`;
  const rows = await readRows(
    handle,
    unionAll([
      BASE_FIRST.query(handle, baseFirst, [maker, other, ...wanted]),
      BASE_SECOND.query(handle, baseSecond, [maker, ...wanted, other]),
    ]),
  );
  return rows.map(row => ({
    address: hexOf(row.address),
    token: hexOf(row.other_token),
    isBaseFirst: row.is_base_first === 1,
  }));
}

const BASE_FIRST = select({
  from: 'pairs',
  columns: ['address', 'second_token as other_token'],
  computed: { is_base_first: ['count', '1'] },
});
const BASE_SECOND = select({
  from: 'pairs',
  columns: ['address', 'first_token as other_token'],
  computed: { is_base_first: ['count', '0'] },
});

/** Reserves of the pair at a time (UTC milliseconds); null before its first deposit. */
export async function reservesAt(handle: Handle, pair: PairRow, at: number): Promise<Reserves | null> {
  const [row] = await select({ from: 'logs', columns: ['timestamp', 'data'] }).rows(
    handle,
    `where address = ? and topic0 = ${handle.dialect.bytesLiteral(SYNC)} and length(data) = 64 and timestamp <= ?
     order by timestamp desc, id desc limit 1`,
    [bytesColumn(pair.address), at],
  );
  return row === undefined ? null : reservesOf(pair, row);
}

/**
 * Amount of the base traded in the pair until a time (UTC milliseconds), in the smallest unit. Counts both directions.
 */
export async function volumeUntil(handle: Handle, pair: PairRow, at: number): Promise<bigint> {
  const volumes = pair.isBaseFirst ? FIRST_VOLUMES : SECOND_VOLUMES;
  const [row] = await volumes.rows(
    handle,
    'where pair = ? and timestamp <= ? order by timestamp desc, id desc limit 1',
    [bytesColumn(pair.address), at],
  );
  if (row === undefined) return 0n;
  // Not parsed as JSON: parts are integers below 2^63, and JSON numbers would lose digits.
  const parts = row.parts.slice(1, -1).split(',').map(BigInt);
  return parts.reduce((sum, part) => (sum << 32n) + part, 0n);
}

const FIRST_VOLUMES = select({ from: 'pair_volumes', columns: ['first_parts as parts'] });
const SECOND_VOLUMES = select({ from: 'pair_volumes', columns: ['second_parts as parts'] });

/** UTC days with a trade in the pair until a time, latest first. */
export async function tradedDays(handle: Handle, pair: PairRow, at: number): Promise<number[]> {
  const address = bytesColumn(pair.address);
  const rows = await select({
    with: TRADED_DAYS,
    computed: { traded_day: ['count', 'traded_day'] },
  }).rows(handle, 'from traded_days where traded_day is not null', [address, at, address]);
  return rows.map(({ traded_day: day }) => day);
}

/**
 * Recursive query that jumps from one day with a trade to the previous one by an index lookup, so the number of trades
 * does not matter.
 */
const TRADED_DAYS = `with recursive traded_days (traded_day) as (
    select * from (select timestamp / ${DAY_MS} from trades where pair = ? and timestamp <= ?
      order by timestamp desc limit 1) as newest
    union all
    select (select timestamp / ${DAY_MS} from trades where pair = ? and timestamp < traded_day * ${DAY_MS}
      order by timestamp desc limit 1) from traded_days where traded_day is not null
  )`;

function reservesOf(
  { isBaseFirst }: PairRow,
  { timestamp, data }: { timestamp: number; data: Buffer },
): Reserves {
  const [first, second] = [data.subarray(0, 32), data.subarray(32, 64)].map(wordOf);
  const [base = 0n, token = 0n] = isBaseFirst ? [first, second] : [second, first];
  return { base, token, timestamp };
}

function wordOf(bytes: Buffer): bigint {
  const hex: Hex = hexOf(bytes);
  return BigInt(hex);
}
