/**
 * Puts distinct answers into a response cache, in a process of its own so that its memory is its own, and tells over
 * IPC by how many bytes the resident set grew. To be run with --expose-gc. Arguments: answers, their size, the bound.
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
/** What the hashes of a page begin with; each answer has others. */
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

/** Stores answers as the service does, with the form that a first client asked for, and gives the largest resident set on the way. */
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

/** The resident set when everything that nobody holds is collected; memory of buffers is given back a little later. */
async function settledBytes(): Promise<number> {
  for (let round = 0; round < 3; round++) {
    globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
    await delay(200);
  }
  return process.memoryUsage.rss();
}
