import { numberToHex } from 'viem';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { leadership } from '#db/leader.ts';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { announce } from '#db/woken-worker.ts';
import { createMetrics, type Metrics } from '#http/metrics.ts';
import { watcherName } from '#payments/model/payment-chain.ts';
import type { PaymentsService, PaymentsServiceOptions, WatchedChain } from '#payments/service.ts';
import { presenceStore, settlementOf } from '#payments/store/presence-store.ts';
import { type FaultyNode, faultyNode } from '../lab/faulty-node.ts';
import { list, record } from '../lab/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../lab/payment-chain.ts';
import { startTestProcess, unreachableChain } from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { postgresDatabase } from '../support/databases.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';
import { passTime } from '../support/passing-time.ts';

const IDS = [31_337, 31_338, 31_339, 31_340];
const TASKS = ['settlement', ...IDS.map(settlementOf)];
const world = manualClock(Date.now());
let node: TestPaymentChain;
const nodes: FaultyNode[] = [];
let chains: readonly WatchedChain[] = [];

/** One node behind four fronts, each with its own chain id. */
beforeAll(async () => {
  node = await startPaymentChain({ clock: world });
  await node.mine(3);
  for (const id of IDS) {
    const seen = await faultyNode(node.rpcUrl);
    seen.tell(({ method }) => (method === 'eth_chainId' ? numberToHex(id) : undefined));
    nodes.push(seen);
  }
  chains = nodes.map(({ url }, place) => ({ ...unreachableChain, id: IDS[place] ?? 0, rpcUrls: [url] }));
});

afterAll(async () => {
  for (const one of nodes) await one[Symbol.asyncDispose]();
  await node.stop();
});

/** Ids of the chains that a process currently watches. */
async function watchedBy(service: PaymentsService): Promise<readonly unknown[]> {
  const { chains: all } = record(await service.status());
  return list(all).flatMap(one => (record(one).node === null ? [] : [record(one).id]));
}

/** Seconds since the last looks of a process at its chains. */
async function lagOf(service: PaymentsService): Promise<readonly number[]> {
  const { chains: all } = record(await service.status());
  return list(all).flatMap(one => (record(one).node === null ? [] : [Number(record(one).lag_seconds)]));
}

/** Number of times that a process became the leader of each of these chains. */
async function leaderChanges({ registry }: Metrics, ids: readonly number[]): Promise<readonly number[]> {
  const scrape = await registry.metrics();
  return ids.map(id => {
    const line = `tollgate_payments_leader_changes_total{task="${watcherName(id)}"} `;
    return Number.parseInt(scrape.split(line)[1] ?? '', 10);
  });
}

describe('processes with the settlement role', () => {
  let database: DatabaseOptions;
  let db: Db;
  let clock: ManualClock;

  beforeEach(async () => {
    const created = await postgresDatabase('payments');
    onTestFinished(created.remove);
    database = created.options;
    db = openDatabase(database);
    onTestFinished(() => db.destroy());
    clock = world;
  });

  async function begin(given: Partial<PaymentsServiceOptions> = {}): Promise<PaymentsService> {
    const options = { clock, chains, metrics: createMetrics(), ...given };
    const service = await startTestProcess(database, { ...options, roles: ['settlement'] });
    onTestFinished(service.close);
    return service;
  }

  /** Waits until `first` knows of `processes`, then passes `ms` and has every process look again. */
  async function pass(
    ms: number,
    { first, processes, keep }: { first: PaymentsService; processes: number; keep?: () => Promise<void> },
  ) {
    await met(first, processes);
    await passTime(ms, { db, clock, keep });
    presenceStore(db).announce();
  }

  /** Resolves when a process knows of this many processes. */
  const met = (service: PaymentsService, processes: number) =>
    until(
      async () => record(record(await service.status()).processes).settlement,
      count => count === processes,
    );

  /** Advances time, and waits until all these processes have looked at their chains since. */
  async function jump(ms: number, services: readonly PaymentsService[]): Promise<void> {
    clock.advance(ms);
    await looked(services, ms);
  }

  /** Waits until all these processes have looked at their chains within this time. */
  const looked = (services: readonly PaymentsService[], ms: number) => {
    const isRecent = (lag: number) => lag < ms / 1000;
    return until(
      async () => {
        const lags = (await Promise.all(services.map(lagOf))).flat();
        // A look that was under way when the clock advanced is late, and its process began its pause after that.
        if (!lags.every(isRecent)) for (const id of IDS) announce(db, watcherName(id));
        return lags;
      },
      lags => lags.length > 0 && lags.every(isRecent),
    );
  };

  /** Advances time until each process watches its count of chains. `keep` extends the presence of another one. */
  async function spread(
    services: readonly PaymentsService[],
    counts: readonly number[],
    { stepMs = 250, keep }: { stepMs?: number; keep?: () => Promise<void> } = {},
  ) {
    const all = await until(
      async () => {
        await keep?.();
        clock.advance(stepMs);
        return Promise.all(services.map(watchedBy));
      },
      led => led.every(({ length }, place) => length === counts[place]),
    );
    return all.map(ids => ids.length);
  }

  test('watch half of the chains each, and one watches all of them when the other ends', async () => {
    const first = await begin();
    const alone = await spread([first], [4]);
    const second = await begin();
    await pass(20_000, { first, processes: 2 });
    const shared = await spread([first, second], [2, 2], { stepMs: 50 });
    const both = (await Promise.all([first, second].map(watchedBy))).flat();

    await second.close();
    // No time passes: the farewell of the second process is enough.
    const left = await spread([first], [4], { stepMs: 0 });

    expect([alone, shared, left]).toEqual([[4], [2, 2], [4]]);
    expect(new Set(both)).toEqual(new Set(IDS));
  });

  test('take over the chains of a killed process once its leases expire', async () => {
    await presenceStore(db).extend('proc_killed', TASKS, clock.now() + 15_000);
    for (const id of IDS.slice(2)) {
      await leadership(db, { name: watcherName(id), leaseMs: 20_000, clock }).hold();
    }
    const first = await begin();
    const before = await spread([first], [2], { stepMs: 0 });

    clock.advance(20_000);
    const after = await spread([first], [4]);

    expect([before, after]).toEqual([[2], [4]]);
  });

  test('hand over no chain to a process that has just started', async () => {
    const metrics = createMetrics();
    const first = await begin({ metrics });
    await spread([first], [4], { stepMs: 0 });
    const second = await begin();

    await pass(17_500, { first, processes: 2 });
    const early = await spread([first, second], [4, 0], { stepMs: 0 });
    const changes = await leaderChanges(metrics, IDS);
    await pass(2_500, { first, processes: 2 });
    const late = await spread([first, second], [2, 2], { stepMs: 50 });

    expect([early, changes, late]).toEqual([
      [4, 0],
      [1, 1, 1, 1],
      [2, 2],
    ]);
  });

  test('offer a chain once, and keep it when no other process takes it', async () => {
    /** Advances time, in steps that a process without nodes survives. */
    async function stay(ms: number, advance = async (stepMs: number) => clock.advance(stepMs)) {
      for (let left = ms; left > 0; left -= 2_500) {
        await presenceStore(db).extend('proc_without_nodes', TASKS, clock.now() + 15_000);
        await advance(Math.min(2_500, left));
      }
    }
    const metrics = createMetrics();
    await stay(1);
    const first = await begin({ metrics });
    await met(first, 2);

    await stay(20_000, stepMs => passTime(stepMs, { db, clock }));
    presenceStore(db).announce();
    const own = await spread([first], [2], { stepMs: 0 });
    const all = await until(
      async () => {
        await stay(250);
        return (await watchedBy(first)).length;
      },
      count => count === 4,
    );
    for (let passed = 0; passed < 8; passed++) {
      await stay(30_000);
      await looked([first], 30_000);
    }
    await spread([first], [4], { stepMs: 0 });

    expect([own, all]).toEqual([[2], 4]);
    expect((await leaderChanges(metrics, IDS)).toSorted()).toEqual([1, 1, 2, 2]);
  });

  test('offer kept chains to a later process, even after the clock was set back', async () => {
    const keep = () => presenceStore(db).extend('proc_without_nodes', TASKS, clock.now() + 15_000);
    await keep();
    let setBackMs = 0;
    const standard = clock;
    clock = { ...standard, now: () => standard.now() - setBackMs };
    const first = await begin();
    await pass(20_000, { first, processes: 2, keep });
    await spread([first], [2], { stepMs: 0 });
    await spread([first], [4], { keep });

    setBackMs = 1_800_000;
    await keep();
    const second = await begin();
    await pass(20_000, { first, processes: 3, keep });

    expect(await spread([first, second], [2, 2], { stepMs: 50, keep })).toEqual([2, 2]);
  });

  test('keep their chains when the other processes are configured with different ones', async () => {
    const metrics = createMetrics();
    const first = await begin({ metrics, chains: chains.slice(0, 3) });
    await spread([first], [3], { stepMs: 0 });
    const second = await begin({ chains: chains.slice(3) });

    for (let passed = 0; passed < 12; passed++) await jump(60_000, [first, second]);
    await spread([first, second], [3, 1], { stepMs: 0 });

    expect(await leaderChanges(metrics, IDS.slice(0, 3))).toEqual([1, 1, 1]);
  });

  test('hand over no chain that the other processes are not configured with', async () => {
    const metrics = createMetrics();
    const first = await begin({ metrics });
    await spread([first], [4], { stepMs: 0 });
    const second = await begin({ chains: chains.slice(2) });

    await pass(20_000, { first, processes: 2 });
    const shared = await spread([first, second], [3, 1], { stepMs: 50 });
    const [taken] = await watchedBy(second);

    expect(shared).toEqual([3, 1]);
    expect(IDS.slice(2)).toContain(taken);
    expect(await leaderChanges(metrics, IDS.slice(0, 2))).toEqual([1, 1]);
  });
});
