import { rmSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startBalancer } from '../../test/lab/balancer.ts';
import { startOwnRedis } from '../../test/lab/redis.ts';
import { random } from '../faults/random.ts';
import { readBalanced } from './balanced-reads.ts';
import { type FleetChain, startInterruptedChain } from './chain.ts';
import { configuration } from './configuration.ts';
import { startDatabases } from './databases.ts';
import { disturb } from './disruptions.ts';
import { startHostileDisruption } from './hostile/disruption.ts';
import { createMember, FLEET_ROLES, type FleetRole, type Member, STOPS } from './member.ts';
import { type KnownTransaction, readKnown, readNew } from './reads.ts';
import { type Observers, replicaClient, turningClient } from './replica-client.ts';
import { type PaidSale, sellAndPay } from './sales.ts';
import { untilSettled } from './shops/books.ts';
import { startReceivers } from './shops/receivers.ts';
import { untilPaid } from './shops/sales.ts';
import { createOrganizations, openShop, type Shop } from './shops/shops.ts';
import { reckon } from './shops/verify.ts';
import { compareStates } from './state-judge.ts';
import { truth } from './truth.ts';
import { comparePayments, compareReplicas, noteWaits, type Sold } from './verdict.ts';

/** Report of a run, for people. */
export interface FleetReport {
  readonly text: string;
}

const CHAIN_IDS = [31_337, 31_338];
const SHOPS = 3;
/** Shops that only the stranger pays. */
const TARGETS = 2;
const REPLICAS = 2;
/** Roles of which the last process reaches the database through a pooler. */
const POOLED: readonly FleetRole[] = ['payments', 'indexer'];
const READERS = 2;
const PAID_WITHIN_MS = 45_000;
/**
 * Covers retries of the last deliveries. The lease of an attempt whose sender was killed, 90 s, ends earlier, because
 * that disruption is the first.
 */
const DELIVERED_WITHIN_MS = 60_000;

/** Longer than the pauses before an index asks again for what a node did not give during a disruption. */
const STATE_WITHIN_MS = 45_000;
/** Accounts of each chain that pay, or receive tokens. */
const ACCOUNTS = 20;

/** Runs the fleet under traffic through all disruptions. Reports violations to the observers. */
export async function runFleet(seed: number, observers: Observers): Promise<FleetReport> {
  await using stack = new AsyncDisposableStack();
  const stage = await prepare(stack, observers);
  const { members } = stage;
  stack.defer(async () => void (await Promise.all(members.map(member => member.kill()))));
  await Promise.all(members.map(member => member.start()));

  const closing = new AbortController();
  const traffic = await startTraffic({ ...stage, seed, observers, signal: closing.signal });
  let compared = 0;
  const compare = async () => {
    compared += await compareReplicas({ ...traffic, ...stage, observers });
  };
  const target = { ...traffic.targets, data: stage.data, observers };
  const attack = () => stage.hostile.attack(target);
  const disturbance = disturb({ ...stage, attack, observers, compare, signal: closing.signal });
  const traces = await Promise.race([disturbance, traffic.failure]).finally(() => closing.abort());

  const { sold: honest, reads } = await traffic.done;
  const sold = [...honest, { shop: target.shop, sales: traces.sales }];
  const paidMs = await untilPaid(sold, PAID_WITHIN_MS);
  if (paidMs >= PAID_WITHIN_MS) observers.violation('payments were not completed in time');
  const shops = sold.map(({ shop }) => shop);
  const settledMs = await untilSettled(shops, DELIVERED_WITHIN_MS);
  await compare();
  for (const chain of stage.chains) await judgeState(chain, stage.urls, honest, observers);
  for (const one of sold) await comparePayments(one, observers);
  const { violations, events, repeated } = await reckon(sold, stage.receivers.arrivals);
  for (const violation of violations) observers.violation(violation);
  await noteWaits(honest, stage.receivers.arrivals, observers);
  const judged = await stage.hostile.judge(target, traces);
  await endAll(members, observers);
  const payments = sold.reduce((sum, { sales }) => sum + sales.length, 0);
  return {
    text: `${observers.interruptions.table()}

payments ${payments}, events ${events}, requests to receivers ${stage.receivers.arrivals.length}, ${repeated} of them for an event that had arrived
reads under traffic ${reads}, answers compared with the chains afterwards ${compared}
${judged}
after the last sale: paid ${(paidMs / 1000).toFixed(1)} s, delivered ${(settledMs / 1000).toFixed(1)} s`,
  };
}

/** Compares the state of a chain's accounts and of the shops that it has paid with the chain. */
async function judgeState(
  chain: FleetChain,
  urls: readonly string[],
  sold: readonly Sold[],
  { violation }: Observers,
): Promise<void> {
  const paid = sold.filter(({ sales }) => sales.some(sale => sale.chainId === chain.id));
  const recipients = paid.map(({ shop }) => shop.recipient.toLowerCase());
  const holders = [...chain.chain.accounts.slice(0, ACCOUNTS), ...new Set(recipients)];
  for (const difference of await compareStates({ urls, chain, holders, withinMs: STATE_WITHIN_MS }))
    violation(`wrong state: ${difference}`);
}

async function prepare(stack: AsyncDisposableStack, observers: Observers) {
  const folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  stack.defer(removeFolder);
  process.once('exit', removeFolder); // also when the run is aborted
  const databases = await startDatabases(stack);
  const redis = stack.use(await startOwnRedis());
  const chains = await Promise.all(CHAIN_IDS.map(id => startInterruptedChain(id, stack)));
  const hostile = await startHostileDisruption(stack);
  const receivers = stack.use(await startReceivers(random(1)));
  const writeConfiguration = async (name: string, url: string, listenUrl: string) => {
    const configFile = join(folder, name);
    const text = configuration({
      paymentsUrl: url,
      indexUrl: url,
      listenUrl,
      redisUrl: redis.url,
      isBalanced: true,
      chains: [...chains, hostile.chain].map(({ configured }) => configured),
    });
    await writeFile(configFile, text);
    return configFile;
  };
  const direct = await writeConfiguration('tollgate.yaml', databases.url, databases.url);
  const pooled = await writeConfiguration('pooled.yaml', databases.pooledUrl, databases.url);
  const members: Member[] = [];
  for (let number = 1; number <= REPLICAS; number += 1) {
    for (const role of FLEET_ROLES)
      members.push(
        await createMember({
          name: `${role} ${number}`,
          role,
          configFile: number === REPLICAS && POOLED.includes(role) ? pooled : direct,
          onError: line => judgeError(line, observers),
        }),
      );
  }
  const membersOf = (role: string) => members.filter(one => one.role === role);
  const data = membersOf('data').map(member => ({ ...member, url: member.dataUrl }));
  const payments = membersOf('payments').map(member => ({ ...member, url: member.paymentsUrl }));
  const urls = data.map(({ url }) => url);
  const balancer = stack.use(
    await startBalancer('haproxy', {
      data: portsOf(urls),
      payments: portsOf(payments.map(({ url }) => url)),
    }),
  );
  return { databases, balancer, redis, chains, hostile, receivers, members, data, payments, urls };
}

function portsOf(urls: readonly string[]): [number, number] {
  const [first = 0, second = 0] = urls.map(url => Number(new URL(url).port));
  return [first, second];
}

/** Reports an error in the log as a violation while nothing is broken. */
function judgeError(line: string, { interruptions, violation }: Observers): void {
  const { name, isGraceful } = interruptions.current();
  if (isGraceful) violation(`${name}: ${line}`);
}

interface Traffic extends Awaited<ReturnType<typeof prepare>> {
  readonly seed: number;
  readonly observers: Observers;
  readonly signal: AbortSignal;
}

async function startTraffic(stage: Traffic) {
  const { seed, observers, signal, chains, hostile, data: replicas } = stage;
  const paid: PaidSale[] = [];
  const told = truth(chains);
  const shops = await openShops(stage);
  const [shop, unluckyShop] = shops.slice(SHOPS);
  if (shop === undefined || unluckyShop === undefined) throw new Error('the stranger has no shops');
  const selling = shops.slice(0, SHOPS).map(async (shop, index): Promise<Sold> => {
    const sales = await sellAndPay({
      shop,
      chains: [...chains, hostile.chain],
      payer: index + 1,
      random: random(seed + index),
      signal,
      onPaid: sale => {
        // Reorganisations move the payments of the hostile chain, so only `hostile` compares them.
        if (sale.chainId !== hostile.chain.id) paid.push(sale);
      },
    });
    return { shop, sales };
  });
  const client = replicaClient({ replicas, key: '', observers });
  const known: KnownTransaction[] = [];
  const reading = { client, chainIds: CHAIN_IDS, truth: told, observers, signal, paid };
  const readers = Array.from({ length: READERS }, (_, index) =>
    readKnown({ ...reading, random: random(seed + 100 + index) }, known),
  );
  const reads = Promise.all([
    ...readers,
    readBalanced({ ...stage, chainIds: CHAIN_IDS, key: shop.key }),
    readNew({ ...reading, client: turningClient({ replicas, observers }), random: random(seed) }, known),
  ]);
  const done = Promise.all([Promise.all(selling), reads]).then(([sold, counts]) => ({
    sold,
    reads: counts.reduce((sum, count) => sum + count, 0),
  }));
  const failure = new Promise<never>((_, reject) => done.catch(reject));
  return { paid, truth: told, targets: { shop, unluckyShop }, done, failure };
}

async function openShops({ databases, payments: replicas, receivers, observers }: Traffic): Promise<Shop[]> {
  const keys = await createOrganizations({ kind: 'postgres', url: databases.url }, SHOPS + TARGETS);
  return await Promise.all(
    keys.map((key, index) => {
      const client = replicaClient({ replicas, key, observers });
      return openShop({ client, key, index, kinds: ['steady'] }, receivers.url);
    }),
  );
}

async function endAll(members: readonly Member[], { violation }: Observers): Promise<void> {
  const codes = await Promise.all(members.map(async member => ({ member, code: await member.end() })));
  for (const { member, code } of codes)
    if (!STOPS.includes(code)) violation(`${member.name} ended with ${code}`);
}
