import { hexOf } from '#db/columns.ts';
import { type Figure, median } from '../figure.ts';
import { startServer } from '../server-process.ts';
import type { BulkIndex } from './bulk-index.ts';
import { CONTRACTS, EVENT, SPOTS, WALLETS } from './bulk-rows.ts';

const WARM_ROUNDS = 10;
const ROUNDS = 101;
const RANGE = 500;
/** Requests under way at a time while cached hits are measured, for so long. */
const CLIENTS = 4;
const HITS_MS = 8_000;
const CACHE_BYTES = 2 ** 26;
const PREFIX = '/insights/v1';

/** A request that differs in every round. */
type Path = (round: number, index: BulkIndex) => string;

const PATHS: Readonly<Record<string, Path>> = {
  'newest 20 transactions': (_, { blocks }) => `/transactions?limit=20&filter_block_number_lt=${blocks}`,
  'block range, sorted by value, 20 of 5,000': (round, { blocks }) => {
    const start = Math.floor(((round % SPOTS) * (blocks - RANGE)) / SPOTS);
    const range = `filter_block_number_gte=${start}&filter_block_number_lt=${start + RANGE}`;
    return `/transactions?limit=20&sort_by=value&${range}`;
  },
  'wallet in and out, newest 20 of 2,000': round =>
    `/wallets/${hexOf(WALLETS[round % SPOTS] ?? EVENT)}/transactions?limit=20`,
  'events of a contract, newest 20 of 2,000': round =>
    `/events/${hexOf(CONTRACTS[round % SPOTS] ?? EVENT)}/${hexOf(EVENT)}?limit=20`,
  'count over a tenth of the rows, 100,000': (round, { blocks }) => {
    const start = Math.floor(((round % SPOTS) * blocks * 0.9) / SPOTS);
    const range = `filter_block_number_gte=${start}&filter_block_number_lt=${start + blocks / 10}`;
    return `/transactions?aggregate=count()&${range}`;
  },
};

/** Median times over HTTP with nothing cached, the number of all matches included. */
export async function endToEnd(index: BulkIndex): Promise<Figure[]> {
  await using server = await startServer('index', index.file, String(index.blocks));
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(PATHS)) {
    const times: number[] = [];
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      const ms = await asked(`${server.url}${PREFIX}${path(round, index)}`);
      if (round >= WARM_ROUNDS) times.push(ms);
    }
    figures.push(printed(`${name}, over HTTP, p50 in ms`, median(times)));
  }
  return figures;
}

/** 99th percentile of cached hits, alone and while one aggregate over all rows runs after the other. */
export async function hitsBesideAggregates(index: BulkIndex): Promise<Figure[]> {
  await using server = await startServer('index', index.file, String(index.blocks), String(CACHE_BYTES));
  const hit = `${server.url}${PREFIX}/transactions?limit=20`;
  await hits(hit, HITS_MS / 8);
  const alone = await hits(hit, HITS_MS);
  const ended = new AbortController();
  const aggregates = aggregateAfterAggregate(server.url, ended.signal);
  const beside = await hits(hit, HITS_MS);
  ended.abort();
  const took = await aggregates;
  return [
    printed('cached hits over HTTP, p99 in ms', p99(alone), `${alone.length} hits, ${CLIENTS} at a time`),
    printed(
      'the same while one aggregate runs after the other',
      p99(beside),
      `${beside.length} hits; an aggregate took ${(median(took) / 1000).toFixed(1)} s`,
    ),
  ];
}

async function hits(url: string, forMs: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + forMs;
  const client = async () => {
    while (performance.now() < until) times.push(await asked(url));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times;
}

/** Milliseconds that each took. Each has a filter of its own, so that none is answered out of the cache. */
async function aggregateAfterAggregate(url: string, signal: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  for (let number = 0; !signal.aborted; number++) {
    const query = `aggregate=sum(gas_used)&group_by=from_address&filter_block_number_gte=${number}`;
    times.push(await asked(`${url}${PREFIX}/transactions?${query}`));
  }
  return times;
}

async function asked(url: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return performance.now() - startedAt;
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function printed(name: string, value: number, note = ''): Figure {
  return { name, value, target: 'any', ok: true, note };
}
