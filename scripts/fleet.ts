/**
 * Test of a fleet: runs ten processes on one PostgreSQL and one Redis, makes payments on two chains, and kills, stops
 * and restarts each part in turn:
 *   npm run fleet [-- --seed N]
 * Exits with 1
 * - when a payment or an event is lost or counted twice,
 * - when an answer is wrong,
 * - when a request is lost or an error is logged during a rolling restart or while nothing is broken,
 * - when a process is left behind, or the run takes more than four minutes or 4 GiB.
 * Exits with 2 when Redis is not installed. Needs Linux.
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runFleet } from './fleet/fleet.ts';
import { interruptions } from './fleet/interruptions.ts';
import { watchProcesses } from './fleet/processes.ts';

const WITHIN_MS = 240_000;
const MOST_BYTES = 4 * 2 ** 30;
const SHOWN = 20;
/** Time for the system to remove ended processes. */
const GONE_AFTER_MS = 1_000;

const { values } = parseArgs({ options: { seed: { type: 'string', default: '1' } } });
const seed = Number(values.seed);
if (!Number.isInteger(seed)) {
  console.error('usage: npm run fleet -- [--seed WHOLE-NUMBER]');
  process.exit(2);
}
if (spawnSync('redis-server', ['--version']).error !== undefined) {
  console.error('Redis is not installed: apt-get install redis-server');
  process.exit(2);
}

process.setMaxListeners(20); // each process of the fleet adds a listener for the end of this process
const violations: string[] = [];
const violation = (sentence: string) => void violations.push(sentence);
process.on('unhandledRejection', error => violation(`unhandled: ${String(error)}`));
const late = setTimeout(() => {
  violation('the run did not end within four minutes');
  tellViolations();
  process.exit(1);
}, WITHIN_MS);
// By default these signals end a process without its `exit` listeners, which end the processes of the fleet.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const startedAt = Date.now();
const watched = watchProcesses(labelOf);
const observers = { interruptions: interruptions(told), violation };
const report = await runFleet(seed, observers).catch((error: unknown) => {
  violation(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return { text: observers.interruptions.table() };
});
await delay(GONE_AFTER_MS);
await watched.stop();
for (const left of await watched.left()) violation(`left behind: ${left}`);
if (watched.mostBytes > MOST_BYTES) violation(`memory rose to ${mebibytes(watched.mostBytes)}`);
clearTimeout(late);

console.log(
  `seed ${seed}, ${((Date.now() - startedAt) / 1000).toFixed()} s, longest waits by disruption\n\n${report.text}`,
);
console.log(`memory at most ${mebibytes(watched.mostBytes)}; of one process: ${memoryOfRoles()}`);
tellViolations();
if (violations.length > 0) process.exitCode = 1;

function tellViolations(): void {
  for (const sentence of violations.slice(0, SHOWN)) console.log(`\n${sentence}`);
  console.log(`\n${violations.length} violations`);
}

/** Prints the progress of the run. */
function told(disruption: string): void {
  console.error(`${((Date.now() - startedAt) / 1000).toFixed().padStart(4)} s  ${disruption}`);
}

function labelOf(commandLine: string): string {
  const role = /--role (\w+)/.exec(commandLine)?.[1];
  return role ?? /postgres|redis|anvil/.exec(commandLine)?.[0] ?? 'other';
}

function memoryOfRoles(): string {
  return [...watched.mostBytesOf].map(([name, bytes]) => `${name} ${mebibytes(bytes)}`).join(', ');
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed()} MiB`;
}
