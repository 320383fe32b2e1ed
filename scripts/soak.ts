/**
 * Sells through the payments service, which is killed again and again, to shops whose receivers fail in every way we
 * know, and holds what arrived against what was sold:
 *   npm run soak [-- --seed N --seconds N]
 * Exits with 1 when an event was lost, changed, forged or told to somebody else. Ends within 60 s at the defaults.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { random } from './faults/random.ts';
import { linesOf } from './faults/tally.ts';
import { untilSettled } from './soak/books.ts';
import { kindIn, startReceivers } from './soak/receivers.ts';
import { reckon } from './soak/reckoning.ts';
import { sell } from './soak/sales.ts';
import { startService } from './soak/service.ts';
import { createOrganizations, openShop } from './soak/shops.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '25' } },
});
const [seed, seconds] = [Number(values.seed), Number(values.seconds)];
if (!Number.isInteger(seed) || !(seconds > 0)) {
  console.error('usage: npm run soak -- [--seed WHOLE-NUMBER] [--seconds NUMBER]');
  process.exit(2);
}

const SHOPS = 4;
const BEYOND_SALES_S = 35;
const LIVES_MS = { shortest: 300, longest: 2_000 };
const MINUTE_MS = 60_000;
/** Beyond the second and the third retry, with their jitter. */
const LEAPS_MS = [12 * MINUTE_MS, 70 * MINUTE_MS];
const SETTLES_WITHIN_MS = 7_000;
const SHOWN = 10;

const violations: string[] = [];
const rejected = (error: unknown) => violations.push(`unhandled: ${String(error)}`);
process.on('unhandledRejection', rejected).on('uncaughtException', rejected);

const folder = await mkdtemp(join(tmpdir(), 'soak-'));
const chance = random(seed);
const receivers = await startReceivers(random(seed + 1));
const keys = await createOrganizations(folder, SHOPS);
const service = await startService(folder);
setTimeout(
  async () => {
    console.error(['not done in time', ...violations.slice(0, SHOWN)].join('\n'));
    await service.stop();
    await rm(folder, { recursive: true });
    process.exit(1);
  },
  (seconds + BEYOND_SALES_S) * 1000,
).unref();
const shops = await Promise.all(
  keys.map((key, index) => openShop({ url: service.url, key, index }, receivers.url)),
);

const closing = AbortSignal.timeout(seconds * 1000);
const selling = Promise.all(
  shops.map(async (shop, index) => ({ shop, sales: await sell(shop, random(seed + 2 + index), closing) })),
);
while (!closing.aborted) {
  await delay(chance.between(LIVES_MS.shortest, LIVES_MS.longest));
  await service.killAndRestart();
}
const sold = await selling;
let recoveryMs = await untilSettled(shops, SETTLES_WITHIN_MS);
for (const leapMs of LEAPS_MS) {
  service.leap(leapMs);
  recoveryMs += await untilSettled(shops, SETTLES_WITHIN_MS);
}

const reckoned = await reckon(sold, receivers.arrivals);
violations.push(...reckoned.violations);
// Frees what waits for those who never answer.
await receivers[Symbol.asyncDispose]();
const exitCode = await service.stop();
if (exitCode !== 0) violations.push(`the service ended with ${exitCode}`);
const log = service.log();
const secrets = shops.flatMap(({ key, hooks }) => [key, ...hooks.map(({ secret }) => secret)]);
for (const secret of secrets)
  if (log.includes(secret)) violations.push(`the log tells ${secret.slice(0, 8)}…`);
await rm(folder, { recursive: true });

const arrived = new Map<string, number>();
for (const { path, isTaken } of receivers.arrivals) {
  const name = `${(kindIn(path) ?? path).padEnd(11)} ${isTaken ? 'taken' : 'refused'}`;
  arrived.set(name, (arrived.get(name) ?? 0) + 1);
}
console.log(`seed ${seed}, ${seconds} s of sales, ${SHOPS} organizations, ${service.kills} times killed

sales ${sold.reduce((sum, { sales }) => sum + sales.length, 0)}, events ${reckoned.events}
reached ${reckoned.reached} of ${reckoned.wanted} pairs of an event and a healthy webhook; ${reckoned.repeated} requests told one of them again
webhooks disabled ${reckoned.disabled}, settled ${recoveryMs} ms after the last sale

requests, by receiver, of ${receivers.arrivals.length}
${linesOf(arrived)}`);
for (const violation of violations.slice(0, SHOWN)) console.log(`\n${violation}`);
console.log(`\n${violations.length} violations`);
if (violations.length > 0) process.exitCode = 1;
