import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '#lib/json.ts';
import type { ApiClient } from '../../src/command/api/client.ts';
import type { Random } from '../faults/random.ts';
import type { Observers } from './replica-client.ts';
import type { PaidSale } from './sales.ts';
import { bodyOf, type Truth } from './truth.ts';

export interface Reading {
  readonly client: ApiClient;
  readonly truth: Truth;
  readonly random: Random;
  readonly observers: Observers;
  readonly signal: AbortSignal;
  /** Payments that the chain has accepted, the newest last. */
  readonly paid: readonly PaidSale[];
}

const PAUSE_MS = 40;
const OLD_BLOCKS = 20;
/** Statuses for a block that the index does not have yet: 503, and 502 or 504 while the node is out or hangs. */
const BEHIND = [502, 503, 504];
const INDEXED_WITHIN_MS = 60_000;

/** Reads old blocks and transactions repeatedly, mostly from caches. Returns the number of reads. */
export async function readKnown(reading: Reading, known: readonly string[]): Promise<number> {
  const { client, truth, random, observers, signal } = reading;
  let reads = 0;
  for (; !signal.aborted; reads += 1) {
    const hash = random.chance(0.5) && known.length > 0 ? random.pick(known) : undefined;
    const height = 1 + random.below(OLD_BLOCKS);
    const path = hash === undefined ? `/explorer/blocks/${height}` : `/explorer/transactions/${hash}`;
    const reply = await client.ask<unknown>({ path });
    const answer = bodyOf(reply);
    const wrong =
      reply.kind === 'refused'
        ? `${path}: ${reply.status}: ${reply.message}`
        : hash === undefined
          ? await truth.aboutBlock(height, answer)
          : await truth.aboutTransaction(hash, answer);
    if (wrong !== undefined) observers.violation(`wrong answer: ${wrong}`);
    await delay(PAUSE_MS);
  }
  return reads;
}

/**
 * Reads each newest payment until the fleet shows its transaction, and adds that to `known`. Returns the number of
 * reads.
 */
export async function readNew(reading: Reading, known: string[]): Promise<number> {
  const { client, truth, observers, signal, paid } = reading;
  let reads = 0;
  for (let seen: PaidSale | undefined; !signal.aborted; await delay(PAUSE_MS)) {
    const newest = paid.at(-1);
    if (newest === undefined || newest === seen) continue;
    seen = newest;
    const { transactionHash: hash, paidAt: startedAt } = newest;
    const answer = await shown(hash, startedAt);
    if (answer === undefined) continue;
    observers.interruptions.note({ kind: 'index', startedAt, ms: Date.now() - startedAt });
    const wrong = await truth.aboutTransaction(hash, answer);
    if (wrong !== undefined) observers.violation(`wrong answer: ${wrong}`);
    known.push(hash);
  }
  return reads;

  async function shown(hash: string, startedAt: number): Promise<unknown> {
    while (!signal.aborted) {
      reads += 1;
      const reply = await client.ask<unknown>({ path: `/explorer/transactions/${hash}` });
      const answer = bodyOf(reply);
      if (reply.kind === 'refused' && reply.status >= 500 && !BEHIND.includes(reply.status))
        observers.violation(`${hash}: ${reply.status}: ${reply.message}`);
      // Until it has a block, the transaction is pending or not found.
      if (isObject(answer) && answer.block_number !== null) return answer;
      if (Date.now() - startedAt > INDEXED_WITHIN_MS) {
        observers.violation(`${hash} is not indexed within a minute`);
        return undefined;
      }
      await delay(PAUSE_MS);
    }
    return undefined;
  }
}
