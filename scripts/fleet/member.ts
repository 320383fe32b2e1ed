import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../test/lab/loopback-server.ts';

export const FLEET_ROLES = ['data', 'indexer', 'payments', 'settlement', 'delivery'] as const;
export type FleetRole = (typeof FLEET_ROLES)[number];

/** Roles with a load balancer in front. */
export const BALANCED: readonly Member['role'][] = ['data', 'payments'];

/** A process of the program with one role or with all, started like an operator would start it. */
export interface Member {
  readonly name: string;
  readonly role: FleetRole | 'all';
  /** Origin of its data service, if its role has one. */
  readonly dataUrl: string;
  /** Origin of its payments platform, if its role has one. */
  readonly paymentsUrl: string;
  readonly adminUrl: string;
  /** True from its readiness until its end. */
  isReady(): boolean;
  /** Largest resident memory since its start in bytes, while it runs. */
  mostMemory(): Promise<number>;
  /** Starts it, and resolves when it is ready. @throws Error when it is not ready in time */
  start(given?: { readonly clockAheadMs?: number }): Promise<void>;
  kill(): Promise<void>;
  /** Ends it with SIGTERM, and with SIGKILL after 20 s. Returns its exit code, or the signal that ended it. */
  end(): Promise<number | string>;
}

const ROOT = join(import.meta.dirname, '../..');
/** Sets the clock of a process ahead. */
const CLOCK_AHEAD = join(ROOT, 'scripts/faults/clock-ahead.ts');
const READY_WITHIN_MS = 60_000;
const ENDS_WITHIN_MS = 20_000;
/** Settings of the allocator in the Dockerfile. */
const AS_IN_THE_IMAGE = { MALLOC_ARENA_MAX: '2' };
const LOOK_EVERY_MS = 100;
/** Exits that count as a stop. A process with a thread that cannot be interrupted is ended by the signal. */
export const STOPS: readonly (number | string)[] = [0, 'SIGTERM'];
const ERROR_LEVEL = 50;
const LAST_LINES = 20;

interface MemberOptions {
  /** What a report calls it. */
  readonly name: string;
  readonly role: FleetRole | 'all';
  readonly configFile: string;
  /** Called with each line of its log with the level error or above. */
  readonly onError: (line: string) => void;
}

/** Prepares a process with its own ports, which stay the same across restarts. */
export async function createMember({ name, role, configFile, onError }: MemberOptions): Promise<Member> {
  const [data, payments, admin] = [await freePort(), await freePort(), await freePort()];
  const adminUrl = `http://127.0.0.1:${admin}`;
  // The file configures both services; a process opens the one that its role needs.
  const ports = { DATA_PORT: `${data}`, PAYMENTS_PORT: `${payments}`, ADMIN_PORT: `${admin}` };
  const lameDuck = BALANCED.includes(role) ? '5s' : '0s';
  const lines: string[] = [];
  let child: ChildProcess | undefined;
  let wasReady = false;

  const read = (line: string) => {
    lines.push(line);
    if (lines.length > LAST_LINES) lines.shift();
    if (levelOf(line) >= ERROR_LEVEL) onError(`${name}: ${line}`);
  };

  process.once('exit', () => child?.kill('SIGKILL')); // also when the run is aborted
  const isRunning = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  return {
    name,
    role,
    dataUrl: `http://127.0.0.1:${data}`,
    paymentsUrl: `http://127.0.0.1:${payments}`,
    adminUrl,
    isReady: () => wasReady && isRunning(),
    async mostMemory() {
      const text = await readFile(`/proc/${child?.pid}/status`, 'utf8');
      const kib = /^VmHWM:\s+(\d+) kB$/m.exec(text)?.[1];
      if (kib === undefined) throw new Error(`${name} shows no memory`);
      return Number(kib) * 1024;
    },
    async start({ clockAheadMs = 0 } = {}) {
      wasReady = false;
      const args = [join(ROOT, 'src/main.ts'), '--config', configFile];
      if (role !== 'all') args.push('--role', role);
      if (clockAheadMs > 0) args.unshift('--import', CLOCK_AHEAD);
      child = spawn(process.execPath, args, {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: {
          ...process.env,
          ...AS_IN_THE_IMAGE,
          ...ports,
          LAME_DUCK: lameDuck,
          CLOCK_AHEAD_MS: `${clockAheadMs}`,
        },
      });
      for (const input of [child.stdout, child.stderr]) {
        if (input !== null) createInterface({ input }).on('line', read);
      }
      const deadline = Date.now() + READY_WITHIN_MS;
      while (isRunning() && Date.now() < deadline) {
        wasReady = await answersWell(`${adminUrl}/readyz`);
        if (wasReady) return;
        await delay(LOOK_EVERY_MS);
      }
      throw new Error(`${name} ${isRunning() ? 'is not ready in time' : 'ended'}\n${lines.join('\n')}`);
    },
    async kill() {
      if (child === undefined || !isRunning()) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
    async end() {
      if (child === undefined) return 'no start';
      if (!isRunning()) return endOf(child);
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const late = setTimeout(() => child?.kill('SIGKILL'), ENDS_WITHIN_MS);
      await exited;
      clearTimeout(late);
      return endOf(child);
    },
  };
}

function endOf({ exitCode, signalCode }: ChildProcess): number | string {
  return exitCode ?? signalCode ?? 'nothing';
}

function levelOf(line: string): number {
  const level = /^\{"level":(\d+)/.exec(line)?.[1];
  return level === undefined ? ERROR_LEVEL : Number(level);
}

async function answersWell(url: string): Promise<boolean> {
  try {
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
