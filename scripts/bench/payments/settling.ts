import { setTimeout as delay } from 'node:timers/promises';
import { systemClock } from '#lib/clock.ts';
import { startPaymentChain, type TestPaymentChain } from '#test/lab/payment-chain.ts';
import { type Figure, figureOf } from '../figure.ts';
import { startServer } from '../server-process.ts';
import { CREATION } from './link.ts';
import { CONFIRMATIONS } from './serve.ts';
import { makeShop } from './shop.ts';

const ROUNDS = 3;
const PAYMENTS = 500;
const MAX_MS = 2_000;
const PATIENCE_MS = 30_000;
const LOOK_AGAIN_MS = 20;
/** Accounts of the chain that pay in turn. The first account is reserved. */
const PAYERS = 19;

/**
 * Time from the last confirmation of a block with 500 payments of 500 sessions until all of them are completed over
 * HTTP. The node is a real one, and the service polls it for blocks.
 */
export async function settling(): Promise<Figure[]> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) times.push(await settled());
  const name = `${PAYMENTS} payments in one block settled after their last confirmation, ms`;
  return [figureOf({ name, rounds: times.map(Math.round), wanted: { atMost: MAX_MS } })];
}

async function settled(): Promise<number> {
  await using chain = await startPaymentChain({ clock: systemClock });
  await using shop = await makeShop(() => []);
  await using service = await startServer('payments', shop.file, chain.rpcUrl, chain.token);
  const sessions = `${service.url}/api/v1/checkout-sessions`;
  for (let index = 0; index < PAYMENTS; index++) {
    const amount = await amountDueOf(sessions, { headers: shop.headers, token: chain.token });
    await chain.pay({ from: 1 + (index % PAYERS), to: CREATION.recipient_address, amount });
  }
  const block = (await chain.head()) + 1;
  await chain.mine(CONFIRMATIONS);
  await holdsAll(chain, block);
  await allListed(`${service.url}/api/v1/transactions?status=confirming&limit=1`, shop.headers);
  const startedAt = performance.now();
  await chain.mine(1);
  await allListed(`${sessions}?status=completed&limit=1`, shop.headers);
  return performance.now() - startedAt;
}

type Headers = Readonly<Record<string, string>>;

/** Opens a session. Each has a different amount due. */
async function amountDueOf(
  sessions: string,
  { headers, token }: { headers: Headers; token: string },
): Promise<bigint> {
  const { amount, chain_id, recipient_address } = CREATION;
  const answer = await fetch(sessions, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ amount, chain_id, recipient_address, token_address: token }),
  });
  const text = await answer.text();
  if (answer.status !== 201) throw new Error(`a session was not opened: ${text}`);
  return BigInt(JSON.parse(text).amount_due);
}

async function holdsAll(chain: TestPaymentChain, block: number): Promise<void> {
  const held = await chain.call('eth_getBlockTransactionCountByNumber', `0x${block.toString(16)}`);
  if (Number(held) !== PAYMENTS) throw new Error(`block ${block} has ${Number(held)} transactions`);
}

/** Resolves when a list has all payments. */
async function allListed(url: string, headers: Headers): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  for (let total = 0; total !== PAYMENTS; ) {
    const answer = await fetch(url, { headers });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`);
    total = JSON.parse(text).total_count;
    if (performance.now() > until) throw new Error(`${url} lists ${total}`);
    if (total !== PAYMENTS) await delay(LOOK_AGAIN_MS);
  }
}
