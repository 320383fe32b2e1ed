import { setTimeout as delay } from 'node:timers/promises';
import { type Address, type Hex, numberToHex, pad, type RpcLog, zeroAddress } from 'viem';
import type { PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import { CURRENT_FACTORY } from '../../../src/deposits/deposit-factory.ts';
import { SWEPT, sweepInput } from '../../../src/deposits/sweep-call.ts';
import { TRANSFER } from '../../../src/evm/coin-logs.ts';
import { asAddress } from '../../../src/payments/watcher/node/transfer-logs.ts';
import type { Stage } from '../hostile/stage.ts';
import { eventsOf } from '../shops/books.ts';
import { demand } from '../shops/demand.ts';
import type { Shop } from '../shops/shops.ts';
import type { DepositChain } from './deposit-chain.ts';
import type { DepositSale } from './deposit-sales.ts';

interface Judged {
  readonly stage: Stage;
  readonly chain: DepositChain;
  readonly sales: readonly DepositSale[];
  readonly violation: (sentence: string) => void;
}

const SETTLES_WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 1_000;
const LIMIT = 100;
const SWEPT_AT_ONCE = 20;
const SWEEP_GAS = 25_000_000n;
const SWEEPER = 18;

/** Waits until each session shows what its address has received, and compares payments, events and states with that. */
export async function compareDeposits(judged: Judged): Promise<string> {
  const { sales, violation } = judged;
  const deadline = Date.now() + SETTLES_WITHIN_MS;
  let open = [...sales];
  let byBalance = 0;
  while (open.length > 0 && Date.now() < deadline) {
    const faults = await Promise.all(
      open.map(async sale => ((await faultOf(judged, sale)) === undefined ? [] : [sale])),
    );
    open = faults.flat();
    if (open.length > 0) await delay(LOOK_EVERY_MS);
  }
  for (const sale of open)
    violation(`${sale.sessionId}: ${await faultOf(judged, sale)}; ${sale.ways.join(', ')}`);
  let events = 0;
  for (const shop of judged.stage.shops) {
    const payments = await paymentsOf(shop);
    byBalance += payments.filter(one => one.tx_hash === null).length;
    events += await compareEvents(shop, payments, violation);
    for (const { tx_hash, recipient_address } of await unmatchedOf(shop))
      violation(`a transfer to ${recipient_address} is unmatched: ${tx_hash}`);
  }
  return `payments in agreement with the chain ${sales.length - open.length} of ${sales.length} sessions, events ${events}, payments found by balance ${byBalance}`;
}

/** Difference between a session and the chain; undefined for none. */
async function faultOf({ stage, chain }: Judged, sale: DepositSale): Promise<string | undefined> {
  const shop = stage.shops.find(({ sessions }) => sessions.has(sale.sessionId));
  if (shop === undefined) return 'has no shop';
  const path = `/api/v1/checkout-sessions/${sale.sessionId}`;
  const session = await demand<PaymentsSchemas['CheckoutSession']>(shop.client, { path });
  const received = await receivedAt(chain, sale);
  if (session.amount_received !== `${received}`)
    return `shows ${session.amount_received}, and its address has received ${received}`;
  const isPaid = received >= sale.price;
  if (isPaid !== (session.status === 'completed'))
    return `is ${session.status} with ${received} of ${sale.price}`;
  const list = await demand<PaymentsSchemas['PaymentTransactionList']>(shop.client, {
    path: `/api/v1/transactions?session_id=${sale.sessionId}&status=completed&limit=${LIMIT}`,
  });
  const sum = list.data.reduce((total, one) => total + BigInt(one.amount), 0n);
  return sum === received ? undefined : `has payments of ${sum}, and its address has received ${received}`;
}

/** Sum of the session's token that its address has received on the chain. */
async function receivedAt(chain: DepositChain, { address, token }: DepositSale): Promise<bigint> {
  if (token !== zeroAddress)
    return sumOf(await logsOf(chain, { address: token, topics: [TRANSFER, null, pad(address)] }));
  const swept = await logsOf(chain, {
    address: CURRENT_FACTORY.address,
    topics: [SWEPT, pad(address), pad(zeroAddress)],
  });
  return BigInt(String(await chain.ask('eth_getBalance', address, 'latest'))) + sumOf(swept);
}

interface LogFilter {
  readonly address: Address;
  readonly topics: readonly (Hex | null)[];
}

async function logsOf(chain: DepositChain, filter: LogFilter): Promise<readonly RpcLog[]> {
  const logs: unknown = await chain.ask('eth_getLogs', {
    ...filter,
    fromBlock: numberToHex(0),
    toBlock: 'latest',
  });
  if (!Array.isArray(logs)) throw new Error('the chain shows no logs');
  return logs;
}

function sumOf(logs: readonly RpcLog[]): bigint {
  return logs.reduce((sum, { data }) => sum + BigInt(data), 0n);
}

async function paymentsOf({ client }: Shop): Promise<PaymentsSchemas['PaymentTransaction'][]> {
  const payments: PaymentsSchemas['PaymentTransaction'][] = [];
  for (let page = 1; ; page += 1) {
    const path = `/api/v1/transactions?status=completed&limit=${LIMIT}&page=${page}`;
    const list = await demand<PaymentsSchemas['PaymentTransactionList']>(client, { path });
    payments.push(...list.data);
    if (!list.has_more) return payments;
  }
}

async function unmatchedOf({ client }: Shop): Promise<PaymentsSchemas['UnmatchedTransfer'][]> {
  const path = `/api/v1/unmatched-transfers?limit=${LIMIT}`;
  return (await demand<PaymentsSchemas['UnmatchedTransferList']>(client, { path })).data;
}

/** Each completed payment has one event, and each completed session. Returns the number of events. */
async function compareEvents(
  shop: Shop,
  payments: readonly PaymentsSchemas['PaymentTransaction'][],
  violation: Judged['violation'],
): Promise<number> {
  // While pages are read, newer events move others to the next page.
  const events = [...new Map((await eventsOf(shop)).map(one => [one.id, one])).values()];
  const ids = (type: string) => events.filter(({ event }) => event === type).map(({ data }) => data.id);
  const [paid, completed] = [ids('payment.completed'), ids('checkout.completed')];
  for (const { id } of payments) if (!paid.includes(id)) violation(`payment ${id} has no event`);
  for (const [kind, all] of [
    ['payment', paid],
    ['checkout', completed],
  ] as const) {
    if (new Set(all).size < all.length) violation(`a ${kind} was completed twice in events`);
  }
  return events.length;
}

/** Has a stranger sweep all addresses, and compares what the shops have with what was received. */
export async function sweepAll({ stage, chain, sales, violation }: Judged): Promise<string> {
  const expected = await totals(chain, sales);
  const before = await chain.chain.head();
  for (let from = 0; from < sales.length; from += SWEPT_AT_ONCE) {
    const items = await Promise.all(
      sales.slice(from, from + SWEPT_AT_ONCE).map(async ({ sessionId, address, token }) => {
        const shop = stage.shops.find(({ sessions }) => sessions.has(sessionId));
        if (shop === undefined) throw new Error(`${sessionId} has no shop`);
        const path = `/api/v1/deposit-addresses/${address}`;
        const { salt } = await demand<PaymentsSchemas['DepositAddress']>(shop.client, { path });
        return {
          recipient: asAddress(shop.recipient),
          salt: asAddress(salt),
          token: token === zeroAddress ? null : token,
        };
      }),
    );
    const data = sweepInput(items);
    await chain.send({ from: SWEEPER, to: CURRENT_FACTORY.address, data, gas: SWEEP_GAS });
    while ((await chain.chain.head()) < before + 4) await delay(LOOK_EVERY_MS);
  }
  await delay(4 * LOOK_EVERY_MS);
  for (const token of [zeroAddress, chain.chain.token]) {
    const held = await Promise.all(
      stage.shops.map(({ recipient }) => balanceOf(chain, token, asAddress(recipient))),
    );
    const sum = held.reduce((total, one) => total + one, 0n);
    const wanted = expected.get(token) ?? 0n;
    if (sum !== wanted)
      violation(`the shops hold ${sum} of ${token}, and their addresses have received ${wanted}`);
  }
  return `swept to the shops: ${[...expected].map(([token, sum]) => `${sum} of ${token}`).join(', ')}`;
}

async function totals(chain: DepositChain, sales: readonly DepositSale[]): Promise<Map<Address, bigint>> {
  const sums = new Map<Address, bigint>();
  for (const sale of sales)
    sums.set(sale.token, (sums.get(sale.token) ?? 0n) + (await receivedAt(chain, sale)));
  return sums;
}

async function balanceOf(chain: DepositChain, token: Address, holder: Address): Promise<bigint> {
  if (token === zeroAddress) return BigInt(String(await chain.ask('eth_getBalance', holder, 'latest')));
  const data = `0x70a08231${pad(holder).slice(2)}`;
  return BigInt(String(await chain.ask('eth_call', { to: token, data }, 'latest')));
}
