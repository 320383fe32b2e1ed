import { setTimeout as delay } from 'node:timers/promises';
import type { PaymentsSchemas } from '../../src/contract/contracts/payments.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { addressOf, type TestPaymentChain } from '../../test/lab/payment-chain.ts';
import type { Random } from '../faults/random.ts';
import type { FleetChain } from './chain.ts';
import { demand } from './shops/demand.ts';
import type { Sale } from './shops/sales.ts';
import type { Shop } from './shops/shops.ts';
import type { ChainTransaction } from './truth.ts';

/** A sale with its payment on the chain. */
export interface PaidSale extends Sale, ChainTransaction {
  /** Milliseconds since 1970. */
  readonly paidAt: number;
}

export interface Counter {
  readonly shop: Shop;
  readonly chains: readonly FleetChain[];
  /** Index of the account that pays. */
  readonly payer: number;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly onPaid: (sale: PaidSale) => void;
}

const PAUSE_MS = { shortest: 250, longest: 650 };
const COINS = '1000000000000000';
const TOKENS = '2500000';

/**
 * Opens sessions of a shop on all chains, half of them of new links, and pays each in coins or tokens, until the signal
 * aborts.
 */
export async function sellAndPay({
  shop,
  chains,
  payer,
  random,
  signal,
  onPaid,
}: Counter): Promise<PaidSale[]> {
  const sales: PaidSale[] = [];
  while (!signal.aborted) {
    const { chain } = random.pick(chains);
    const token = random.chance(0.5) ? chain.token : NATIVE_COIN;
    const { sessionId, amount } = await openSession(shop, { token, chain, isOfLink: random.chance(0.5) });
    const to = shop.recipient;
    const transactionHash =
      token === NATIVE_COIN
        ? (await chain.send({ from: payer, to: addressOf(to), value: amount })).hash
        : await chain.pay({ from: payer, to, amount });
    const sale = paidSale({ sessionId, chainId: chain.chainId, transactionHash });
    sales.push(sale);
    onPaid(sale);
    await delay(random.between(PAUSE_MS.shortest, PAUSE_MS.longest));
  }
  return sales;
}

/** A sale that has been paid on the chain right now. */
export function paidSale(payment: ChainTransaction & Pick<Sale, 'sessionId'>): PaidSale {
  const events = ['payment.completed', 'checkout.completed'];
  return { ...payment, events, isPaidOnChain: true, paidAt: Date.now() };
}

interface Terms {
  readonly token: string;
  readonly chain: Pick<TestPaymentChain, 'chainId'>;
  readonly isOfLink: boolean;
}

/** Opens a session of a shop, or of a new link of it. Returns its id and its amount due in smallest units. */
export async function openSession(
  { client, recipient, sessions }: Shop,
  { token, chain, isOfLink }: Terms,
): Promise<{ sessionId: string; amount: bigint }> {
  const terms = {
    chain_id: chain.chainId,
    token_address: token,
    recipient_address: recipient,
    amount: token === NATIVE_COIN ? COINS : TOKENS,
  };
  const ofLink = async () => {
    const body = { name: 'Field notebooks', ...terms };
    const link = await demand<PaymentsSchemas['PaymentLink']>(client, {
      method: 'POST',
      path: '/api/v1/payment-links',
      body,
    });
    return { payment_link_id: link.id };
  };
  const { id, amount_due: due } = await demand<PaymentsSchemas['CheckoutSession']>(client, {
    method: 'POST',
    path: '/api/v1/checkout-sessions',
    body: isOfLink ? await ofLink() : terms,
  });
  sessions.add(id);
  if (due === null) throw new Error(`${id} has no amount due`);
  return { sessionId: id, amount: BigInt(due) };
}
