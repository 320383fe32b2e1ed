import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import { NATIVE_COIN } from '../../../src/payments/model/payment-chain.ts';
import type { Random } from '../../faults/random.ts';
import { demand } from './demand.ts';
import type { Shop } from './shops.ts';

/** Chain of simulated and real payments. */
export const CHAIN_ID = 31_337;

const AMOUNT = '1000000000000000';
const LONGEST_PAUSE_MS = 400;
const LOOK_EVERY_MS = 200;

/** Endings of a session: the actions that lead there, and the expected events in order. */
const ENDINGS = [
  { acts: ['completed'], events: ['payment.completed', 'checkout.completed'] },
  // After a failed payment the payer could retry, so the session ends only by expiring.
  { acts: ['failed', 'expire'], events: ['payment.failed', 'checkout.expired'] },
  { acts: ['expire'], events: ['checkout.expired'] },
] as const;

/** A session that has ended according to the API, and its expected events. */
export interface Sale {
  readonly sessionId: string;
  readonly events: readonly string[];
  readonly isPaidOnChain: boolean;
}

/** Pays a session's amount on the chain. */
export type Payer = (recipient: string, amount: bigint) => Promise<void>;

interface Till {
  readonly random: Random;
  readonly signal: AbortSignal;
  /** Undefined when payments are simulated. */
  readonly pay: Payer | undefined;
}

/** Opens and ends sessions of a shop, one after the other, until the signal aborts. */
export async function sell(shop: Shop, { random, signal, pay }: Till): Promise<Sale[]> {
  const sales: Sale[] = [];
  while (!signal.aborted) {
    const { id, amount_due: due } = await demand<PaymentsSchemas['CheckoutSession']>(shop.client, {
      method: 'POST',
      path: '/api/v1/checkout-sessions',
      body: {
        chain_id: CHAIN_ID,
        token_address: NATIVE_COIN,
        recipient_address: shop.recipient,
        amount: AMOUNT,
        metadata: { note: 'ünïcödé “quotes” 🧾', sale: String(sales.length) },
      },
    });
    shop.sessions.add(id);
    // About two thirds of the sessions are paid.
    const { acts, events } = random.chance(0.5) ? ENDINGS[0] : random.pick(ENDINGS);
    const isPaidOnChain = pay !== undefined && due !== null && events.length === 2 && acts.length === 1;
    if (isPaidOnChain) await pay(shop.recipient, BigInt(due));
    for (const act of isPaidOnChain ? [] : acts) {
      await demand(shop.client, {
        method: 'POST',
        ...(act === 'expire'
          ? { path: `/api/v1/checkout-sessions/${id}/expire` }
          : { path: `/api/v1/test/sessions/${id}/simulate`, body: { outcome: act } }),
      });
    }
    sales.push({ sessionId: id, events, isPaidOnChain });
    await delay(random.between(0, LONGEST_PAUSE_MS));
  }
  return sales;
}

/** Waits until all sessions paid on the chain are completed, or until the time is up. Returns the time it took. */
export async function untilPaid(
  sold: readonly { readonly shop: Shop; readonly sales: readonly Sale[] }[],
  withinMs: number,
): Promise<number> {
  const startedAt = Date.now();
  for (const { shop, sales } of sold) {
    for (const { sessionId } of sales.filter(one => one.isPaidOnChain)) {
      while (Date.now() - startedAt < withinMs) {
        const path = `/api/v1/checkout-sessions/${sessionId}`;
        const { status } = await demand<PaymentsSchemas['CheckoutSession']>(shop.client, { path });
        if (status === 'completed') break;
        await delay(LOOK_EVERY_MS);
      }
    }
  }
  return Date.now() - startedAt;
}
