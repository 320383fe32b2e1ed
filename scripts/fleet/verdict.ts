import { setTimeout as delay } from 'node:timers/promises';
import { isObject } from '#lib/json.ts';
import type { PaymentsSchemas } from '../../src/contract/contracts/payments.ts';
import { eventsOf } from '../soak/books.ts';
import { demand } from '../soak/demand.ts';
import type { Arrival } from '../soak/receivers.ts';
import type { Shop } from '../soak/shops.ts';
import type { FleetChain } from './chain.ts';
import type { Observers } from './replica-client.ts';
import type { PaidSale } from './sales.ts';
import type { Truth } from './truth.ts';

/** Sales of a shop. */
export interface Sold {
  readonly shop: Shop;
  readonly sales: readonly PaidSale[];
}

interface Compared {
  readonly urls: readonly string[];
  readonly truth: Truth;
  readonly chain: FleetChain;
  readonly paid: readonly PaidSale[];
  readonly observers: Observers;
}

const BEHIND_HEAD = 3;
const LIMIT = 100;
/** All tries together are shorter than `data.cache.unsettled`, so that a replica that loses its index fails the run. */
const TRIES = 50;
const PAUSE_MS = 100;
const ANSWERS_WITHIN_MS = 20_000;

/** Compares every block and payment that each replica shows with the chain. Returns the number of answers. */
export async function compareReplicas({ urls, truth, chain, paid, observers }: Compared): Promise<number> {
  const head = (await chain.chain.head()) - BEHIND_HEAD;
  const settledBy = Date.now() - BEHIND_HEAD * 2_000;
  const hashes = paid.filter(({ paidAt }) => paidAt < settledBy).map(sale => sale.transactionHash);
  let answers = 0;
  for (const url of urls) {
    const answerTo = async (path: string) => {
      answers += 1;
      // A replica that has just restarted may be behind for a moment.
      for (let tries = 1; ; tries += 1) {
        const answer = await presentAnswer(`${url}${path}`);
        if (answer !== undefined || tries === TRIES) return answer;
        await delay(PAUSE_MS);
      }
    };
    for (let height = 0; height <= head; height += 1) {
      tell(await truth.aboutBlock(height, await answerTo(`/explorer/blocks/${height}`)));
    }
    for (const hash of hashes) {
      tell(await truth.aboutTransaction(hash, await answerTo(`/explorer/transactions/${hash}`)));
    }
  }
  return answers;

  function tell(wrong: string | undefined): void {
    if (wrong !== undefined) observers.violation(`wrong answer: ${wrong}`);
  }
}

/** Current answer; undefined for a failure, an answer marked as stale (Decision 64) and a pending transaction. */
async function presentAnswer(url: string): Promise<unknown> {
  const response = await fetch(url, { signal: AbortSignal.timeout(ANSWERS_WITHIN_MS) }).catch(
    () => undefined,
  );
  const body: unknown = await response?.json().catch(() => undefined);
  const isPresent = response?.ok === true && response.headers.get('x-cache') !== 'STALE';
  return isPresent && isObject(body) && body.block_number !== null ? body : undefined;
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
      const paid = paidAt.get(data.checkoutSession.id);
      if (event === 'payment.completed' && paid !== undefined)
        note({ kind: 'settlement', startedAt: paid, ms: at - paid });
      for (const { path } of shop.hooks) {
        const arrived = arrivedAt.get(`${path} ${id}`);
        if (arrived !== undefined) note({ kind: 'delivery', startedAt: at, ms: Math.max(0, arrived - at) });
      }
    }
  }
}
