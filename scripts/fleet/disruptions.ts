import { setTimeout as delay } from 'node:timers/promises';
import type { OwnRedis } from '../../test/lab/redis.ts';
import type { InterruptedChain } from './chain.ts';
import type { FleetDatabases } from './databases.ts';
import type { Traces } from './hostile/attacks.ts';
import { BALANCED, FLEET_ROLES, type FleetRole, type Member, STOPS } from './member.ts';
import type { Observers } from './replica-client.ts';
import { disturbState, STATE_FAULTS } from './state-faults.ts';
import { leadByWrongClock } from './wrong-clock.ts';

/** Parts of the fleet that disruptions affect. */
export interface Disturbed {
  readonly members: readonly Member[];
  readonly redis: OwnRedis;
  readonly databases: FleetDatabases;
  readonly chains: readonly InterruptedChain[];
  readonly observers: Observers;
  /** Lets a stranger attack one more chain. */
  readonly attack: () => Promise<Traces>;
  /** Compares the replicas with the chains. */
  readonly compare: () => Promise<void>;
  /** Aborted when the run has failed. Nothing is started after that. */
  readonly signal: AbortSignal;
}

/** Roles of which one process leads each chain. */
const LED: readonly FleetRole[] = ['settlement', 'indexer'];
const GRACEFUL = { isGraceful: true };
/** Nothing ends without notice, so that a client of the load balancer loses no read. */
const SERVED = { isServed: true };
/** Time without a disruption before the first one and after each. */
const CALM_MS = 2_000;
const DOWN_MS = { process: 1_000, redis: 5_000, postgres: 3_000, node: 6_000 };
/** Time until the load balancer sees that a process is ready, as the guide for operators has it. */
const SEEN_WITHIN_MS = 2_000;
/** Requests that a hanging node holds fail by the clients' deadline of 10 s, and that is logged. */
const REFUSED_WITHIN_MS = 11_000;
/** Covers the leases of a killed process: 15 s for an index, 20 s for the watcher of a chain. */
const TAKEOVER_MS = 20_000;

/** Runs all disruptions, one after the other. Returns what the stranger left. Rejects when the signal aborts. */
export async function disturb(disturbed: Disturbed): Promise<Traces> {
  const { redis, databases, chains, observers, members, attack, compare, signal } = disturbed;
  const { interruptions } = observers;
  const pause = (ms: number) => delay(ms, undefined, { signal });
  interruptions.begin('nothing', GRACEFUL);
  await pause(CALM_MS);
  for (const role of ['delivery', 'data', 'payments', 'settlement', 'indexer'] satisfies FleetRole[]) {
    interruptions.begin(`kill -9 ${role}`);
    await killOne(role);
  }
  await pause(TAKEOVER_MS);

  for (const role of LED) {
    interruptions.begin(`a clock ahead: ${role}`);
    const wrong = await leaderOf(role, members);
    const others = members.filter(member => member.role === role && member !== wrong);
    await leadByWrongClock({ wrong, others, leads: leadsOf, violation: observers.violation, signal });
    await pause(CALM_MS);
  }

  interruptions.begin('Redis out', SERVED);
  await redis.stop();
  await pause(DOWN_MS.redis);
  await redis.start();
  await pause(CALM_MS);
  await compare();

  interruptions.begin('PostgreSQL restarted', SERVED);
  await databases.primary.stop();
  await pause(DOWN_MS.postgres);
  await databases.primary.start();
  await pause(CALM_MS);

  interruptions.begin('PostgreSQL failed over', SERVED);
  await databases.failOver(DOWN_MS.postgres);
  await pause(CALM_MS);
  await compare();

  interruptions.begin('a node hangs', SERVED);
  const [hanging] = chains;
  hanging?.node.slow(Number.POSITIVE_INFINITY);
  await pause(DOWN_MS.node);
  hanging?.node.slow(0);
  await pause(REFUSED_WITHIN_MS);

  for (const [at, fault] of STATE_FAULTS.entries()) {
    const chain = chains[at % chains.length];
    if (chain === undefined) continue;
    interruptions.begin(fault.name, SERVED);
    if ((await disturbState(chain, fault, signal)) === 0)
      observers.violation(`${fault.name}: the node refused nothing`);
    await pause(CALM_MS);
  }

  const traces = await attack();

  for (const role of FLEET_ROLES) {
    interruptions.begin(`rolling: ${role}`, GRACEFUL);
    for (const member of members.filter(one => one.role === role)) await restart(member);
  }
  interruptions.begin('nothing again', GRACEFUL);
  await pause(CALM_MS);
  return traces;

  async function killOne(role: FleetRole): Promise<void> {
    const member = await leaderOf(role, members);
    await member.kill();
    await pause(DOWN_MS.process);
    await member.start();
    await pause(CALM_MS);
  }

  async function restart(member: Member): Promise<void> {
    const code = await member.end();
    if (!STOPS.includes(code)) observers.violation(`${member.name} ended with ${code} after SIGTERM`);
    signal.throwIfAborted();
    await member.start();
    if (BALANCED.includes(member.role)) await pause(SEEN_WITHIN_MS);
  }
}

/**
 * Process of a role that leads the most chains. The others stand by.
 * @throws Error when none leads although the role has a leader, because a kill would then interrupt nothing
 */
async function leaderOf(role: FleetRole, members: readonly Member[]): Promise<Member> {
  const own = members.filter(one => one.role === role);
  const led = await Promise.all(own.map(async member => ({ member, count: await leadsOf(member) })));
  const [first] = led.sort((a, b) => b.count - a.count);
  if (first === undefined || (LED.includes(role) && first.count === 0))
    throw new Error(`no process of the role ${role} leads a chain`);
  return first.member;
}

/** Number of chains that the process watches or indexes, by its metrics and its status. */
async function leadsOf({ adminUrl }: Member): Promise<number> {
  const [metrics, status] = await Promise.all(
    ['metrics', 'status'].map(async page => (await fetch(`${adminUrl}/${page}`)).text()),
  );
  const elected = metrics?.matchAll(/^tollgate_\w*leader_changes_total(?:\{[^}]*\})? (\d+)$/gm) ?? [];
  const written = status?.split('"writing":true').length ?? 1;
  return [...elected].reduce((sum, [, value]) => sum + Number(value), written - 1);
}
