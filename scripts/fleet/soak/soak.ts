import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { apiClient } from '#command/api/client.ts';
import { systemClock } from '#lib/clock.ts';
import { faultyNode } from '../../../test/lab/faulty-node.ts';
import { addressOf, mineEvery, startPaymentChain } from '../../../test/lab/payment-chain.ts';
import { random } from '../../faults/random.ts';
import { linesOf } from '../../faults/tally.ts';
import { untilSettled } from '../shops/books.ts';
import { kindIn, type Receivers, startReceivers } from '../shops/receivers.ts';
import { type Payer, sell, untilPaid } from '../shops/sales.ts';
import { createOrganizations, openShop, type Shop } from '../shops/shops.ts';
import { reckon } from '../shops/verify.ts';
import { type KillableService, startService } from './service.ts';

export interface Soak {
  readonly seed: number;
  /** Duration of the sales. */
  readonly seconds: number;
  /** Processes of the service on one database. */
  readonly processes: number;
  /** True to pay on a chain whose first node never answers; false to simulate the payments. */
  readonly hasHangingNode: boolean;
}

const SHOPS = 4;
const BEYOND_SALES_S = 60;
const LIVES_MS = { shortest: 300, longest: 2_000 };
const BLOCK_MS = 500;
const MINUTE_MS = 60_000;
/** Leaps past the second and the third retry, including their jitter. */
const LEAPS_MS = [12 * MINUTE_MS, 70 * MINUTE_MS];
const SETTLES_WITHIN_MS = 7_000;
/** Covers the lease of a killed process, the deadline of the hanging node, and several polls. */
const PAID_WITHIN_MS = 35_000;
/** Speed of the clock: a retry after one minute comes after three seconds. Blocks use real time. */
const FAST = 20;

/** Runs one soak test to its end. @throws Error when it takes a minute longer than the sales */
export async function soak(options: Soak): Promise<{ report: string; violations: string[] }> {
  await using stack = new AsyncDisposableStack();
  const { seed, seconds, processes, hasHangingNode } = options;
  const folder = await mkdtemp(join(tmpdir(), 'soak-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const receivers = stack.use(await startReceivers(random(seed + 1)));
  const paid = hasHangingNode ? await chainBehindHangingNode(stack) : undefined;
  const keys = await createOrganizations({ file: join(folder, 'payments.db') }, SHOPS);
  const terms = {
    startedAt: Date.now(),
    speed: paid === undefined ? FAST : 1,
    // No node listens there, because all payments are simulated.
    rpcUrls: paid?.rpcUrls ?? ['http://127.0.0.1:9'],
  };
  const services: KillableService[] = [];
  stack.defer(async () => void (await Promise.all(services.map(service => service.stop()))));
  for (let index = 0; index < processes; index++) services.push(await startService(folder, terms));
  const late = AbortSignal.timeout((seconds + BEYOND_SALES_S) * 1000);
  const overdue = new Promise<never>((_, reject) =>
    late.addEventListener('abort', () => reject(new Error('the soak test did not end in time'))),
  );
  // Awaited, because leaving this function stops everything.
  return await Promise.race([overdue, run(options, { services, receivers, keys, payerOf: paid?.payerOf })]);
}

interface Stage {
  readonly services: readonly KillableService[];
  readonly receivers: Receivers;
  readonly keys: readonly string[];
  readonly payerOf: ((index: number) => Payer) | undefined;
}

async function run(
  options: Soak,
  { services, receivers, keys, payerOf }: Stage,
): Promise<{ report: string; violations: string[] }> {
  const { seed, seconds, processes, hasHangingNode } = options;
  const shops: Shop[] = [];
  for (const [index, key] of keys.entries()) {
    const { url } = serviceFor(services, index);
    shops.push(await openShop({ client: apiClient({ url, key }), key, index }, receivers.url));
  }
  const closing = AbortSignal.timeout(seconds * 1000);
  const selling = Promise.all(
    shops.map(async (shop, index) => {
      const till = { random: random(seed + 2 + index), signal: closing, pay: payerOf?.(index) };
      return { shop, sales: await sell(shop, till) };
    }),
  );
  const chance = random(seed);
  while (!closing.aborted) {
    await delay(chance.between(LIVES_MS.shortest, LIVES_MS.longest));
    await chance.pick(services).killAndRestart();
  }
  const sold = await selling;
  const paidMs = await untilPaid(sold, PAID_WITHIN_MS);
  let recoveryMs = await untilSettled(shops, SETTLES_WITHIN_MS);
  for (const leapMs of LEAPS_MS) {
    for (const service of services) service.leap(leapMs);
    recoveryMs += await untilSettled(shops, SETTLES_WITHIN_MS);
  }

  const { violations, ...reckoned } = await reckon(sold, receivers.arrivals);
  const unpaid = paidMs >= PAID_WITHIN_MS ? ['payments on the chain were not completed in time'] : [];
  // Ends the deliveries that wait for receivers that never answer.
  await receivers[Symbol.asyncDispose]();
  const codes = await Promise.all(services.map(service => service.stop()));
  const bad = codes.filter(code => code !== 0).map(code => `the service ended with ${code}`);
  const sales = sold.flatMap(one => one.sales);
  const kills = services.reduce((sum, service) => sum + service.kills, 0);
  const onChain = sales.filter(({ isPaidOnChain }) => isPaidOnChain).length;
  const node = hasHangingNode ? `a first node that hangs, ${onChain} sales paid on the chain` : 'no node';
  const report = `seed ${seed}, ${seconds} s of sales, ${SHOPS} organizations, ${processes} processes, ${kills} times killed, ${node}

sales ${sales.length}, events ${reckoned.events}
reached ${reckoned.reached} of ${reckoned.wanted} pairs of an event and a healthy webhook; ${reckoned.repeated} requests repeated one of them
webhooks disabled ${reckoned.disabled}, paid ${paidMs} ms and settled ${recoveryMs} ms after the last sale

requests, by receiver, of ${receivers.arrivals.length}
${linesOf(arrivedAt(receivers))}`;
  return { report, violations: [...violations, ...unpaid, ...bad, ...toldSecrets(services, shops)] };
}

/** Spreads the shops over the processes. */
function serviceFor(services: readonly KillableService[], index: number): KillableService {
  const service = services[index % services.length];
  if (service === undefined) throw new Error('no process of the service');
  return service;
}

function toldSecrets(services: readonly KillableService[], shops: readonly Shop[]): string[] {
  const log = services.map(service => service.log()).join('');
  const secrets = shops.flatMap(({ key, hooks }) => [key, ...hooks.map(({ secret }) => secret)]);
  return secrets
    .filter(secret => log.includes(secret))
    .map(secret => `the log contains ${secret.slice(0, 8)}…`);
}

function arrivedAt({ arrivals }: Receivers): Map<string, number> {
  const arrived = new Map<string, number>();
  for (const { path, isTaken } of arrivals) {
    const name = `${(kindIn(path) ?? path).padEnd(11)} ${isTaken ? 'taken' : 'refused'}`;
    arrived.set(name, (arrived.get(name) ?? 0) + 1);
  }
  return arrived;
}

/**
 * Starts a chain with a block every half second behind a hanging first node, and a payer with its own account per shop.
 */
async function chainBehindHangingNode(stack: AsyncDisposableStack) {
  const chain = stack.use(await startPaymentChain({ clock: systemClock }));
  const hanging = stack.use(await faultyNode(chain.rpcUrl));
  hanging.slow(Number.POSITIVE_INFINITY);
  stack.use(mineEvery(BLOCK_MS, () => chain.mine()));
  return {
    rpcUrls: [hanging.url, chain.rpcUrl],
    payerOf:
      (index: number): Payer =>
      async (recipient, amount) => {
        await chain.send({ from: index + 1, to: addressOf(recipient), value: amount });
      },
  };
}
