import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '#lib/json.ts';
import type { PaymentsSchemas } from '../../src/contract/contracts/payments.ts';
import type { FleetChain } from './chain.ts';
import { BEHIND_WITHIN_MS } from './reads.ts';
import type { Observers } from './replica-client.ts';
import type { PaidSale } from './sales.ts';
import { eventsOf } from './shops/books.ts';
import { demand } from './shops/demand.ts';
import type { Arrival } from './shops/receivers.ts';
import type { Shop } from './shops/shops.ts';
import { pathOfBlock, pathOfTransaction, type Truth } from './truth.ts';

/** Sales of a shop. */
export interface Sold {
  readonly shop: Shop;
  readonly sales: readonly PaidSale[];
}

interface Compared {
  readonly urls: readonly string[];
  readonly truth: Truth;
  readonly chains: readonly FleetChain[];
  readonly paid: readonly PaidSale[];
  readonly observers: Observers;
}

const BEHIND_HEAD = 3;
const LIMIT = 100;
const PAUSE_MS = 100;
const TRIES = BEHIND_WITHIN_MS / PAUSE_MS;
const ANSWERS_WITHIN_MS = 20_000;
/** Characters of an answer that a report quotes. */
const SHOWN = 300;

/** Compares every block and payment that each replica shows with the chains. Returns the number of answers. */
export async function compareReplicas({ urls, truth, chains, paid, observers }: Compared): Promise<number> {
  const settledBy = Date.now() - BEHIND_HEAD * 2_000;
  const settled = paid.filter(({ paidAt }) => paidAt < settledBy);
  const heads = await Promise.all(chains.map(({ chain }) => chain.head()));
  const blocks = chains.flatMap(({ id }, index) =>
    Array.from({ length: (heads[index] ?? 0) - BEHIND_HEAD + 1 }, (_, height) => ({ chainId: id, height })),
  );
  for (const url of urls) {
    for (const block of blocks) {
      const wrong = await presentAnswer(url + pathOfBlock(block), answer => truth.aboutBlock(block, answer));
      tell(wrong);
    }
    for (const sale of settled) {
      tell(
        await presentAnswer(url + pathOfTransaction(sale), answer => truth.aboutTransaction(sale, answer)),
      );
    }
  }
  return urls.length * (blocks.length + settled.length);

  function tell(wrong: string | undefined): void {
    if (wrong !== undefined) observers.violation(`wrong answer: ${wrong}`);
  }
}

/** A present answer, or a description of an answer that does not count. */
type Attempt = { readonly body: object } | { readonly absence: string };

/**
 * Judges the answer at an address. A replica that has just restarted may be behind for a moment, so a failure, an answer
 * marked as stale (Decision 64) and a pending transaction are asked again.
 */
async function presentAnswer(
  url: string,
  judge: (answer: object) => Promise<string | undefined>,
): Promise<string | undefined> {
  for (let tries = 1; ; tries += 1) {
    const attempt = await ask(url);
    if ('body' in attempt) return await judge(attempt.body);
    if (tries === TRIES) return `${url}, asked ${TRIES} times: ${attempt.absence}`;
    await delay(PAUSE_MS);
  }
}

async function ask(url: string): Promise<Attempt> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) });
    const body: unknown = await response.json();
    const cache = response.headers.get('x-cache');
    if (response.ok && cache !== 'STALE' && isObject(body) && body.block_number !== null) return { body };
    return {
      absence: `${response.status}, ${cache}, ${response.headers.get('age')} s old, ${JSON.stringify(body).slice(0, SHOWN)}`,
    };
  } catch (error) {
    return { absence: String(error) };
  }
}

/** Compares the payments that the platform lists with those on the chain. Each must be listed once. */
export async function comparePayments({ shop, sales }: Sold, { violation }: Observers): Promise<void> {
  const listed: PaymentsSchemas['PaymentTransaction'][] = [];
  for (let page = 1; ; page += 1) {
    const path = `/api/v1/transactions?limit=${LIMIT}&page=${page}`;
    const list = await demand<PaymentsSchemas['PaymentTransactionList']>(shop.client, { path });
    listed.push(...list.data);
    if (!list.has_more) break;
  }
  const byHash = Map.groupBy(listed, ({ tx_hash: hash }) => hash);
  for (const { transactionHash: hash, sessionId } of sales) {
    const found = byHash.get(hash) ?? [];
    const [first] = found;
    if (first === undefined) violation(`${hash} for ${sessionId} is lost`);
    else if (found.length > 1) violation(`${hash} for ${sessionId} counts ${found.length} times`);
    else if (first.status !== 'completed' || first.session_id !== sessionId)
      violation(`${hash} is ${first.status} for ${first.session_id}, not completed for ${sessionId}`);
  }
  if (listed.length !== sales.length) violation(`${listed.length} payments listed of ${sales.length}`);
}

/**
 * Records the waits for settlement and for delivery to each webhook, from the times of the events and of their first
 * arrivals.
 */
export async function noteWaits(sold: readonly Sold[], arrivals: readonly Arrival[], observers: Observers) {
  const arrivedAt = new Map<string, number>();
  for (const { path, headers, receivedAt } of arrivals) {
    const key = `${path} ${headers['x-service-event-id']}`;
    arrivedAt.set(key, Math.min(receivedAt, arrivedAt.get(key) ?? receivedAt));
  }
  const { note } = observers.interruptions;
  for (const { shop, sales } of sold) {
    const paidAt = new Map(sales.map(sale => [sale.sessionId, sale.paidAt]));
    for (const { id, event, created_at: createdAt, data } of await eventsOf(shop)) {
      const at = Date.parse(createdAt);
      const paid = paidAt.get(data.checkoutSession?.id ?? '');
      if (event === 'payment.completed' && paid !== undefined)
        note({ kind: 'settlement', startedAt: paid, ms: at - paid });
      for (const { path } of shop.hooks) {
        const arrived = arrivedAt.get(`${path} ${id}`);
        if (arrived !== undefined) note({ kind: 'delivery', startedAt: at, ms: Math.max(0, arrived - at) });
      }
    }
  }
}
