/**
 * Puts distinct answers into a response cache and reports the growth of the resident set in bytes over IPC. Runs as a
 * separate process, so that nothing else uses its memory. Needs --expose-gc. Arguments: answers, their size, the bound.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type ResponseCache, responseCache } from '#data/cache/response-cache.ts';
import { uncompressed, withForm } from '#http/representation.ts';
import { systemClock } from '#lib/clock.ts';
import { pageOf } from '../normalise/pages.ts';

const WARM_UP = 100;
const SAMPLED_EVERY = 50;
const LIFE_MS = 86_400_000;
/** Beginning of all hashes in the page, replaced in each answer to make it distinct. */
const FILLER = 'e'.repeat(60);

const [answers = 0, bodyBytes = 0, maxBytes = 0] = process.argv.slice(2).map(Number);
const page = pageOf('getTransaction/v11').slice(0, bodyBytes);

await fill(responseCache({ maxBytes: 2 ** 20, clock: systemClock }), WARM_UP);
const before = await settledBytes();
const cache = responseCache({ maxBytes, clock: systemClock });
const peak = await fill(cache, answers);
const after = await settledBytes();
const isLastKept = (await cache.get(keyOf(answers - 1))) !== undefined;
process.send?.({ growth: after - before, peakGrowth: peak - before, isLastKept });

/**
 * Stores answers like the service does, in the encoding that a first client requests. Returns the largest resident set
 * seen.
 */
async function fill(into: ResponseCache, count: number): Promise<number> {
  let largest = 0;
  for (let index = 0; index < count; index++) {
    const plain = uncompressed(page.replaceAll(FILLER, randomBytes(30).toString('hex')));
    const representation = await withForm(plain, 'br');
    const now = Date.now();
    await into.set(keyOf(index), {
      representation,
      chainIds: [1],
      backends: ['bench'],
      storedAt: now,
      freshUntil: now + LIFE_MS,
      keepUntil: now + LIFE_MS,
      final: true,
    });
    if (index % SAMPLED_EVERY === 0) largest = Math.max(largest, process.memoryUsage.rss());
  }
  return largest;
}

function keyOf(index: number): string {
  return `listTransactions 1 {"index":${index}}`.padEnd(120, ' ');
}

/**
 * Resident set after garbage collection. Waits between collections, because memory of buffers is freed a little later.
 */
async function settledBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await delay(200);
  }
  return process.memoryUsage.rss();
}
