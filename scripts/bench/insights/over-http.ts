import { hexOf } from '#db/columns.ts';
import { type Figure, figureOf, median } from '../figure.ts';
import { startServer } from '../server-process.ts';
import { timedRequest } from '../timed-request.ts';
import { medians } from '../turns.ts';
import type { BulkIndex } from './bulk-index.ts';
import { CONTRACTS, EVENT, SPOTS, WALLETS } from './bulk-rows.ts';

const WARM_ROUNDS = 10;
const ROUNDS = 101;
const RANGE = 500;
/** Concurrent requests while cached hits are measured. */
const CLIENTS = 4;
const HITS_ROUNDS = 3;
const HITS_MS = 2_000;
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

/** Median times over HTTP without caches, including the count of all matches. */
export async function endToEnd(index: BulkIndex): Promise<Figure[]> {
  await using server = await startServer('index', index.file, String(index.blocks));
  const figures: Figure[] = [];
  for (const [name, path] of Object.entries(PATHS)) {
    const times: number[] = [];
    for (let round = 0; round < WARM_ROUNDS + ROUNDS; round++) {
      const ms = await timedRequest(`${server.url}${PREFIX}${path(round, index)}`);
      if (round >= WARM_ROUNDS) times.push(ms);
    }
    figures.push(figureOf({ name: `${name}, over HTTP, p50 in ms`, rounds: medians(times) }));
  }
  return figures;
}

/** 99th percentile of cached hits, alone and while aggregates over all rows run one after the other. */
export async function hitsBesideAggregates(index: BulkIndex): Promise<Figure[]> {
  await using server = await startServer('index', index.file, String(index.blocks), String(CACHE_BYTES));
  const hit = `${server.url}${PREFIX}/transactions?limit=20`;
  const aggregate = aggregateOf(server.url);
  await hits(hit, HITS_MS / 2);
  const rounds: { alone: number[]; beside: number[]; took: number[] }[] = [];
  for (let round = 0; round < HITS_ROUNDS; round++) {
    const alone = await hits(hit, HITS_MS);
    const ended = new AbortController();
    const aggregates = oneAfterTheOther(aggregate, ended.signal);
    const beside = await hits(hit, HITS_MS);
    ended.abort();
    rounds.push({ alone, beside, took: await aggregates });
  }
  const aggregateS = median(rounds.flatMap(({ took }) => took)) / 1000;
  return [
    figureOf({
      name: 'cached hits over HTTP, p99 in ms',
      rounds: rounds.map(({ alone }) => p99(alone)),
      note: `${rounds.flatMap(({ alone }) => alone).length} hits, ${CLIENTS} at a time`,
    }),
    figureOf({
      name: 'cached hits over HTTP while one aggregate runs after the other, p99 in ms',
      rounds: rounds.map(({ beside }) => p99(beside)),
      note: `${rounds.flatMap(({ beside }) => beside).length} hits; an aggregate took ${aggregateS.toFixed(1)} s`,
    }),
  ];
}

async function hits(url: string, forMs: number): Promise<number[]> {
  const times: number[] = [];
  const until = performance.now() + forMs;
  const client = async () => {
    while (performance.now() < until) times.push(await timedRequest(url));
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return times;
}

/** Requests an aggregate over all rows. Each has a different filter, so that no answer is cached. */
function aggregateOf(url: string): () => Promise<number> {
  let number = 0;
  return () => {
    const query = `aggregate=sum(gas_used)&group_by=from_address&filter_block_number_gte=${number++}`;
    return timedRequest(`${url}${PREFIX}/transactions?${query}`);
  };
}

/** Repeats a request until the signal aborts. Returns the milliseconds of each. */
async function oneAfterTheOther(ask: () => Promise<number>, signal: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  while (!signal.aborted) times.push(await ask());
  return times;
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}
