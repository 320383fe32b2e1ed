import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '#lib/json.ts';
import type { ApiClient } from '../../src/command/api/client.ts';
import type { Random } from '../faults/random.ts';
import type { Observers } from './replica-client.ts';
import type { PaidSale } from './sales.ts';
import {
  bodyOf,
  type ChainTransaction,
  isStale,
  pathOfBlock,
  pathOfTransaction,
  type Truth,
} from './truth.ts';

export interface Reading {
  readonly client: ApiClient;
  readonly chainIds: readonly number[];
  readonly truth: Truth;
  readonly random: Random;
  readonly observers: Observers;
  readonly signal: AbortSignal;
  /** Payments that the chains have accepted, the newest last. */
  readonly paid: readonly PaidSale[];
}

const PAUSE_MS = 40;
const OLD_BLOCKS = 20;
/** Maximum time that one replica may be behind another. Shorter than `data.cache.unsettled`. */
export const BEHIND_WITHIN_MS = 5_000;
/** Statuses for a block that the index does not have yet: 503, and 502 or 504 while the node is out or hangs. */
const BEHIND = [502, 503, 504];
const INDEXED_WITHIN_MS = 60_000;

/** A transaction that a replica has shown in a block. */
export interface KnownTransaction extends ChainTransaction {
  /** Milliseconds since 1970. */
  readonly shownAt: number;
}

/**
 * Reads old blocks and transactions repeatedly, mostly from caches. While an index is out, a replica may show a
 * transaction as pending, marked as stale (Decision 64). Returns the number of reads.
 */
export async function readKnown(reading: Reading, known: readonly KnownTransaction[]): Promise<number> {
  const { client, chainIds, truth, random, observers, signal } = reading;
  let reads = 0;
  for (; !signal.aborted; reads += 1) {
    const old = known.filter(({ shownAt }) => Date.now() - shownAt > BEHIND_WITHIN_MS);
    const transaction = random.chance(0.5) && old.length > 0 ? random.pick(old) : undefined;
    const block = { chainId: random.pick(chainIds), height: 1 + random.below(OLD_BLOCKS) };
    const path = transaction === undefined ? pathOfBlock(block) : pathOfTransaction(transaction);
    const reply = await client.ask<unknown>({ path });
    const answer = bodyOf(reply);
    const wrong =
      reply.kind === 'refused'
        ? `${path}: ${reply.status}: ${reply.message}`
        : transaction === undefined
          ? await truth.aboutBlock(block, answer)
          : await truth.aboutTransaction(transaction, answer);
    const isPending = isObject(answer) && answer.block_number === null;
    const isExcused = isPending && isStale(reply) && !observers.interruptions.current().isGraceful;
    if (wrong !== undefined && !isExcused) observers.violation(`wrong answer: ${wrong}`);
    await delay(PAUSE_MS);
  }
  return reads;
}

/**
 * Reads each newest payment until the fleet shows its transaction, and adds that to `known`. Returns the number of
 * reads.
 */
export async function readNew(reading: Reading, known: KnownTransaction[]): Promise<number> {
  const { client, truth, observers, signal, paid } = reading;
  let reads = 0;
  for (let seen: PaidSale | undefined; !signal.aborted; await delay(PAUSE_MS)) {
    const newest = paid.at(-1);
    if (newest === undefined || newest === seen) continue;
    seen = newest;
    const { paidAt: startedAt } = newest;
    const answer = await shown(newest);
    if (answer === undefined) continue;
    observers.interruptions.note({ kind: 'index', startedAt, ms: Date.now() - startedAt });
    const wrong = await truth.aboutTransaction(newest, answer);
    if (wrong !== undefined) observers.violation(`wrong answer: ${wrong}`);
    known.push({ ...newest, shownAt: Date.now() });
  }
  return reads;

  async function shown(sale: PaidSale): Promise<unknown> {
    const { transactionHash: hash, paidAt: startedAt } = sale;
    while (!signal.aborted) {
      reads += 1;
      const reply = await client.ask<unknown>({ path: pathOfTransaction(sale) });
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
