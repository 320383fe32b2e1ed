/**
 * Soak test of the payments service. Opens and pays checkout sessions of several shops while the service is killed
 * repeatedly and webhook receivers fail in every known way, then compares the deliveries with the sales:
 *   npm run soak [-- --seed N --seconds N --processes N --hanging-node]
 * Without options it runs twice: with one process and simulated payments, and with two processes on one database that
 * settle payments of a chain whose first node hangs. Exits with 1 when an event was lost, changed, forged or sent to
 * another organization. Ends within two minutes at the defaults.
 */
import { parseArgs } from 'node:util';
import { type Soak, soak } from './soak/soak.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '20' },
    processes: { type: 'string' },
    'hanging-node': { type: 'boolean' },
  },
});
const { processes, 'hanging-node': hasHangingNode = false } = values;
const [seed, seconds] = [Number(values.seed), Number(values.seconds)];
const count = Number(processes ?? 1);
if (!Number.isInteger(seed) || !(seconds > 0) || !Number.isInteger(count) || count < 1) {
  console.error(
    'usage: npm run soak -- [--seed WHOLE-NUMBER] [--seconds NUMBER] [--processes N] [--hanging-node]',
  );
  process.exit(2);
}

const SHOWN = 10;
const chosen: Soak = { seed, seconds, processes: count, hasHangingNode };
const soaks =
  processes === undefined && !hasHangingNode
    ? [chosen, { ...chosen, processes: 2, hasHangingNode: true }]
    : [chosen];

const rejected: string[] = [];
const reject = (error: unknown) => rejected.push(`unhandled: ${String(error)}`);
process.on('unhandledRejection', reject).on('uncaughtException', reject);

for (const one of soaks) {
  const { report, violations } = await soak(one).catch((error: unknown) => ({
    report: 'the soak test failed to complete',
    violations: [String(error)],
  }));
  const all = [...violations, ...rejected.splice(0)];
  console.log(report);
  for (const violation of all.slice(0, SHOWN)) console.log(`\n${violation}`);
  console.log(`\n${all.length} violations\n`);
  if (all.length > 0) process.exitCode = 1;
}
