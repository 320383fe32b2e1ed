/**
 * Runs the data service on five upstreams that fail in every known way, and compares each answer with the true data:
 *   npm run faults [-- --seed N --seconds N]
 * Exits with 1 when an answer is untrue, late, reveals a secret or breaks the contract. Ends within 60 s at the
 * defaults.
 */
import { parseArgs } from 'node:util';
import { client } from './faults/client.ts';
import { watchHoldUps } from './faults/event-loop-stalls.ts';
import { journal } from './faults/journal.ts';
import { questionSource } from './faults/question-source.ts';
import { random } from './faults/random.ts';
import { run } from './faults/run.ts';
import { fastClock, startService } from './faults/service.ts';
import { linesOf, tally } from './faults/tally.ts';
import { startUpstreams } from './faults/upstreams.ts';
import { verdicts } from './faults/verdict.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, seconds: { type: 'string', default: '35' } },
});
const [seed, seconds] = [Number(values.seed), Number(values.seconds)];
const BEYOND_STORM_S = 25;
const MAX_MEMORY = 1024 * 2 ** 20;
const SHOWN = 5;

if (!Number.isInteger(seed) || !(seconds > 0)) {
  console.error('usage: npm run faults -- [--seed WHOLE-NUMBER] [--seconds NUMBER]');
  process.exit(2);
}

const counted = tally();
const rejected = (error: unknown) => counted.violation(`unhandled: ${String(error)}`);
process.on('unhandledRejection', rejected).on('uncaughtException', rejected);
setTimeout(() => fail(new Error('the run did not end in time')), (seconds + BEYOND_STORM_S) * 1000).unref();

// Without the catch, the listeners above would swallow a rejection, and the process would exit with 0.
await storm().catch(fail);
for (const violation of counted.violations.slice(0, SHOWN)) console.log(`\n${violation}`);
console.log(`\n${counted.violations.length} violations`);
if (counted.violations.length > 0) process.exitCode = 1;

/** Starts upstreams and service, runs all phases, stops both and prints the report. */
async function storm(): Promise<void> {
  const upstreams = await startUpstreams(seed);
  const written = journal(upstreams.all.map(({ apiKey }) => apiKey));
  const clock = fastClock();
  const service = await startService(upstreams.all, { clock, log: written.log });
  const asking = client(service.url);
  const chance = random(seed);
  const holdUps = watchHoldUps();
  let memory = 0;
  const watching = setInterval(() => {
    memory = Math.max(memory, process.memoryUsage().rss);
  }, 250);

  const { kept, recoveryMs } = await run(
    {
      questions: questionSource(upstreams.worlds, chance),
      client: asking,
      clock,
      upstreams,
      verdict: await verdicts(upstreams),
      random: chance,
      tally: counted,
      holdUps,
    },
    seconds * 1000,
  );
  clearInterval(watching);
  holdUps.stop();
  await asking.close();
  await service.close();
  for (const line of written.offences) counted.violation(`log: ${line.trim()}`);
  if (memory > MAX_MEMORY) counted.violation(`memory rose to ${memory} bytes`);
  await upstreams[Symbol.asyncDispose]();

  console.log(`seed ${seed}, ${seconds} s of storm\n\nanswers\n${linesOf(counted.answers)}`);
  console.log(`\nfaults, of ${upstreams.all.reduce((sum, { service: { requests } }) => sum + requests.length, 0)} requests upstream
${linesOf(upstreams.injected)}`);
  console.log(`
breakers opened ${written.count('failed repeatedly: requests paused')} times, closed ${written.count('answers again')} times
quotas used up ${written.count('over quota: requests paused')} times, unreadable records ${written.count('the record is unreadable')}
answers kept ${kept}, recovery ${recoveryMs.toFixed()} ms
slowest request, hold-ups left out, ${counted.slowest.durationMs.toFixed()} ms: ${counted.slowest.target}
longest hold-up of the process ${holdUps.longestMs.toFixed()} ms, memory at most ${(memory / 2 ** 20).toFixed()} MiB`);
}

/** Ends a run that has no result. */
function fail(error: unknown): never {
  console.error(error);
  process.exit(1);
}
