/**
 * Test of a fleet: runs ten processes on PostgreSQL with a standby and on one Redis, two of them through PgBouncer and all
 * behind haproxy, makes payments on two chains, and kills, stops and restarts each part in turn, also a leader whose clock
 * is ahead:
 *   npm run fleet [-- --seed N]
 * Exits with 1
 * - when a payment or an event is lost or counted twice,
 * - when an answer is wrong, or a balance or an owner of an NFT is not that of the chain,
 * - when a request is lost or an error is logged during a rolling restart or while nothing is broken,
 * - when a read through haproxy is lost because Redis, PostgreSQL or a node is away,
 * - when a process is left behind, or the run takes more than twelve minutes or 5 GiB.
 * Exits with 2 when Redis, haproxy or PgBouncer is not installed. Needs Linux.
 *
 * With `--hostile` it runs only one process per database and chain, a plain chain and a hostile one, in a network of its
 * own (`fleet/hostile/alone.ts`):
 *   npm run fleet -- --hostile [--short] [--database sqlite|postgres] [--prove always|findings|off] [--seed N]
 *
 * With `--lies` it runs one process per database on a chain with two nodes, the first of which tells one lie after another
 * about its blocks (`fleet/liar.ts`). A payment that is lost or counted twice, or a false block that is called proven, is a
 * violation:
 *   npm run fleet -- --lies [--database sqlite|postgres] [--prove always|findings|off] [--seed N]
 *
 * With `--deposits` it runs one process per database, which is killed again and again, on a chain whose blocks are replaced.
 * Sessions with deposit addresses are paid in every way (`fleet/deposits/`). A session that does not show exactly what its
 * address has received is a violation:
 *   npm run fleet -- --deposits [--database sqlite|postgres] [--prove always|findings|off] [--seed N]
 *
 * With `--soak` it runs only the payments service, on SQLite: sessions of several shops are opened and paid while the
 * service is killed repeatedly and receivers of webhooks fail in every known way. First one process simulates the
 * payments, then two processes settle payments of a chain whose first node hangs. An event that is lost, changed, forged
 * or sent to another organization is a violation:
 *   npm run fleet -- --soak [--seconds N] [--seed N]
 */
import { spawnSync } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runDeposits } from './fleet/deposits/deposits.ts';
import { runFleet } from './fleet/fleet.ts';
import { runHostileChain } from './fleet/hostile/alone.ts';
import { isInOwnNetwork, runInOwnNetwork } from './fleet/hostile/own-network.ts';
import { FULL, SHORT } from './fleet/hostile/sizes.ts';
import { interruptions } from './fleet/interruptions.ts';
import { type LiesRun, runLies } from './fleet/liar.ts';
import { watchProcesses } from './fleet/processes.ts';
import { soak } from './fleet/soak/soak.ts';

const WITHIN_MS = 720_000;
const MAX_BYTES = 5 * 2 ** 30;
const SHOWN = 20;
const SHOWN_CHARACTERS = 600;
/** Time for the system to remove ended processes. */
const GONE_AFTER_MS = 1_000;
/** Programs that the fleet starts, by Debian's names, each with an argument for its version. */
const PROGRAMS = [
  ['redis-server', '--version'],
  ['haproxy', '-v'],
  ['pgbouncer', '--version'],
] as const;
const DATABASES = ['sqlite', 'postgres'] as const;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    hostile: { type: 'boolean', default: false },
    lies: { type: 'boolean', default: false },
    deposits: { type: 'boolean', default: false },
    prove: { type: 'string' },
    short: { type: 'boolean', default: false },
    database: { type: 'string' },
    soak: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '20' },
  },
});
const [seed, seconds] = [Number(values.seed), Number(values.seconds)];
const databases = DATABASES.filter(name => values.database === undefined || values.database === name);
if (!Number.isInteger(seed) || !(seconds > 0) || databases.length === 0) {
  console.error(
    'usage: npm run fleet -- [--seed WHOLE-NUMBER] [--hostile [--short] [--database sqlite|postgres] | (--lies | --deposits) [--database sqlite|postgres] | --soak [--seconds NUMBER]]',
  );
  process.exit(2);
}
if (values.hostile && !isInOwnNetwork()) process.exit(await runInOwnNetwork());
const isWhole = !values.hostile && !values.soak && !values.lies && !values.deposits;
for (const [program, argument] of isWhole ? PROGRAMS : []) {
  if (spawnSync(program, [argument]).error === undefined) continue;
  console.error(`${program} is not installed: apt-get install ${program}`);
  process.exit(2);
}

process.setMaxListeners(20); // each process of the fleet adds a listener for the end of this process
const violations: string[] = [];
const violation = (sentence: string) => void violations.push(sentence);
process.on('unhandledRejection', error => violation(`unhandled: ${String(error)}`));
const late = setTimeout(() => {
  violation('the run did not end within twelve minutes');
  tellViolations();
  process.exit(1);
}, WITHIN_MS);
// By default these signals end a process without its `exit` listeners, which end the processes of the fleet.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

const startedAt = Date.now();
const watched = watchProcesses(labelOf);
const report = await runChosen();
await delay(GONE_AFTER_MS);
await watched.stop();
for (const left of await watched.left()) violation(`left behind: ${left}`);
if (watched.mostBytes > MAX_BYTES) violation(`memory rose to ${mebibytes(watched.mostBytes)}`);
clearTimeout(late);

console.log(`seed ${seed}, ${((Date.now() - startedAt) / 1000).toFixed()} s\n\n${report}`);
console.log(`memory at most ${mebibytes(watched.mostBytes)}; of one process: ${memoryOfRoles()}`);
tellViolations();
if (violations.length > 0) process.exitCode = 1;

function runChosen(): Promise<string> {
  if (values.hostile)
    return onEachDatabase(run => runHostileChain({ ...run, sizes: values.short ? SHORT : FULL }));
  if (values.lies) return onEachDatabase(runLies);
  if (values.deposits) return onEachDatabase(runDeposits);
  return values.soak ? runSoaks() : runWholeFleet();
}

async function runWholeFleet(): Promise<string> {
  const observers = { interruptions: interruptions(told), violation };
  try {
    return `longest waits by disruption\n\n${(await runFleet(seed, observers)).text}`;
  } catch (error) {
    fail(error);
    return observers.interruptions.table();
  }
}

/** Runs a program on one database after the other. */
async function onEachDatabase(run: (terms: LiesRun) => Promise<string>): Promise<string> {
  const reports: string[] = [];
  for (const database of databases) {
    const report = run({
      seed,
      database,
      prove: values.prove,
      told: disruption => told(`${database}: ${disruption}`),
      violation: sentence => violation(`${database}: ${sentence}`),
    });
    reports.push(`${database}\n\n${await report.catch(fail)}`);
  }
  return reports.join('\n\n');
}

async function runSoaks(): Promise<string> {
  const reports: string[] = [];
  for (const [processes, hasHangingNode] of [
    [1, false],
    [2, true],
  ] as const) {
    told(`soak of ${processes} processes`);
    const done = await soak({ seed, seconds, processes, hasHangingNode }).catch((error: unknown) => ({
      report: fail(error),
      violations: [],
    }));
    reports.push(done.report);
    for (const sentence of done.violations) violation(sentence);
  }
  return reports.join('\n\n');
}

/** Reports an error that ended the run. */
function fail(error: unknown): string {
  violation(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 'the run failed';
}

function tellViolations(): void {
  for (const sentence of violations.slice(0, SHOWN)) console.log(`\n${sentence.slice(0, SHOWN_CHARACTERS)}`);
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
