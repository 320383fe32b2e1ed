import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Figure, figureOf, median } from './figure.ts';
import { hashOf } from './growth/synthetic-block.ts';
import { writeSyntheticIndex } from './growth/synthetic-index.ts';
import { startServer } from './server-process.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 20_000;
const ROUNDS = 5;
const WARM_REQUESTS = 300;
const REQUESTS = 100;

/** Kind of request: a page before a block, or one transaction. */
interface Question {
  readonly name: string;
  readonly mostMs: number;
  pathAt(place: number): string;
}

const QUESTIONS: readonly Question[] = [
  {
    name: 'listTransactions',
    mostMs: 2,
    pathAt: place => `/explorer/transactions?block_number=${100 + (place % (BLOCKS - 200))}&index=1`,
  },
  {
    name: 'getTransaction',
    mostMs: 1,
    pathAt: place => `/explorer/transactions/${hashOf('7a', place % (BLOCKS * 3))}`,
  },
];

/**
 * Time of uncached answers from the index, one request after the other over one connection. Alternates with a bare
 * node:http server that reads the same rows by hand-written SQL and writes them as JSON.
 */
export async function benchIndexMisses(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  try {
    const file = join(folder, 'index.db');
    await writeSyntheticIndex({ database: { file }, chainId: CHAIN_ID, blocks: BLOCKS });
    await using ours = await startServer('index', file, String(BLOCKS));
    await using byHand = await startServer('hand-index', file);
    const figures: Figure[] = [];
    for (const question of QUESTIONS) figures.push(...(await figuresOf(question, ours.url, byHand.url)));
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function figuresOf(
  { name, mostMs, pathAt }: Question,
  ours: string,
  byHand: string,
): Promise<Figure[]> {
  using agent = keepAlive();
  const times: number[] = [];
  const handTimes: number[] = [];
  let place = 0;
  for (let round = -1; round < ROUNDS; round++) {
    const count = round < 0 ? WARM_REQUESTS : REQUESTS;
    // Places far apart, each used once.
    const paths = Array.from({ length: count }, (_, index) => pathAt((place + index) * 7919));
    place += count;
    const [own, hand] = [await p50(agent, ours, paths), await p50(agent, byHand, paths)];
    if (round < 0) continue;
    times.push(own);
    handTimes.push(hand);
  }
  return [
    figureOf({
      name: `${name} of an index of ${BLOCKS} blocks, not cached, p50 in ms`,
      rounds: times,
      wanted: { atMost: mostMs },
      note: `the same rows by SQL by hand, as JSON over node:http: ${median(handTimes).toFixed(2)} ms`,
    }),
    figureOf({
      name: `the same (${name}) over SQL by hand`,
      rounds: times.map((time, round) => time / (handTimes[round] ?? Number.NaN)),
      wanted: { atMost: MAX_OVER_HAND },
    }),
  ];
}

/** Allows for work that the hand-written rows do not need: checksums, decoded calls, an ETag and the back ends. */
const MAX_OVER_HAND = 2;

function keepAlive(): Agent & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

/** Median time until the last byte. @throws Error when an answer is not a 200 */
async function p50(agent: Agent, url: string, paths: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (const path of paths) {
    const startedAt = performance.now();
    await answered(agent, url + path);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

function answered(agent: Agent, url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, response => {
      if (response.statusCode !== 200) reject(new Error(`${url}: answered ${response.statusCode}`));
      response.resume().once('end', resolve).once('error', reject);
    });
    request.once('error', reject);
  });
}
