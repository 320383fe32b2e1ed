/**
 * Sends mutated requests to every operation of both services, and judges each answer by the contracts:
 *   npm run fuzz [-- --seed N --requests N --seconds N]
 *   npm run fuzz -- --seed N --only NUMBER       sends one request of such a run again and prints its answer
 * All parts run on this machine: embedded chains, the data service over their index, the payments platform on SQLite.
 * Exits with 1 when an answer is missing, breaks its contract or reveals internals, or when memory keeps growing.
 */
import { parseArgs } from 'node:util';
import { startTestDevnet } from '../test/lab/devnet.ts';
import { dataWorld } from './fuzz/data-fixture.ts';
import { memoryRecord } from './fuzz/memory.ts';
import { paymentsWorld } from './fuzz/payments-fixture.ts';
import { type FuzzReport, fuzz } from './fuzz/run.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    requests: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '1500' },
    only: { type: 'string' },
  },
});
const [seed, requests, seconds] = [Number(values.seed), Number(values.requests), Number(values.seconds)];
const only = values.only === undefined ? undefined : [Number(values.only)];
const SHOWN = 20;
const MAX_GROWTH = 32 * 2 ** 20;
/** Time to start and to stop the services. */
const BEYOND_REQUESTS_S = 120;

if (![seed, requests, ...(only ?? [])].every(Number.isSafeInteger) || !(seconds > 0)) {
  console.error('usage: npm run fuzz -- [--seed N] [--requests N] [--seconds N] [--only N]');
  process.exit(2);
}

const findings: string[] = [];
const rejected = (error: unknown) => void findings.push(`unhandled: ${String(error)}`);
process.on('unhandledRejection', rejected).on('uncaughtException', rejected);

const late = setTimeout(
  () => fail(new Error('the run did not end in time')),
  (seconds + BEYOND_REQUESTS_S) * 1000,
);
const memory = memoryRecord();
// Without the catch, the listeners above would swallow a rejection, and the process would exit with 0.
const { tookS, ...report } = await run().catch(fail);
clearTimeout(late);

findings.push(...report.findings);
if (only === undefined && report.sent < requests)
  findings.push(`only ${report.sent} of ${requests} requests in time`);
const [, atHalf = 0, , atEnd = 0] = memory.heap;
if (atEnd - atHalf > MAX_GROWTH)
  findings.push(`memory grew by ${mebibytes(atEnd - atHalf)} in the second half`);

for (const [id, statuses] of report.counts) {
  const counts = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
  console.log(`  ${id.padEnd(34)} ${counts.join('  ')}`);
}
for (const finding of findings.slice(0, SHOWN)) console.log(`\n${finding}`);
if (only !== undefined && report.last !== undefined) {
  const { request, answer } = report.last;
  console.log(`\n${request}\n${answer.status} ${JSON.stringify(answer.headers)}\n${answer.text}`);
}
console.log(`
seed ${seed}: ${report.sent} requests to ${report.counts.size} operations in ${tookS.toFixed()} s
heap after each quarter ${memory.heap.map(mebibytes).join(', ')}; process ${memory.resident.map(mebibytes).join(', ')}
slowest answer ${report.slowest.durationMs} ms: ${report.slowest.request.slice(0, 200)}
one request again: npm run fuzz -- --seed ${seed} --only NUMBER
${findings.length} findings`);
process.exitCode = findings.length > 0 ? 1 : 0;

/** Starts the services, sends the requests, and stops the services. */
async function run(): Promise<FuzzReport & { readonly tookS: number }> {
  await using devnet = await startTestDevnet({ chains: 2 });
  const worlds = [await dataWorld(devnet.chains), await paymentsWorld(devnet.chains)];
  const deadlineMs = seconds * 1000;
  const startedAt = performance.now();
  const report = await fuzz(worlds, { seed, requests, only, deadlineMs, afterQuarter: memory.note });
  const tookS = (performance.now() - startedAt) / 1000;
  for (const world of worlds) await world.close();
  return { ...report, tookS };
}

/** Ends a run that has no result. */
function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed()} MiB`;
}
