import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { Unavailable } from '../../src/lib/unavailable.ts';
import { type RunningWorker, startWorker, type WorkerOptions } from '../../src/lib/worker.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

let running: RunningWorker | undefined;

afterEach(() => running?.stop());

const PAUSE_MS = 500;

function start(
  runOnce: (signal: AbortSignal) => Promise<number>,
  { longestPauseMs = 2_000, ...more }: Partial<WorkerOptions> = {},
) {
  const clock = manualClock();
  const lines: string[] = [];
  const log = createLogger({ level: 'info', destination: { write: line => void lines.push(line) } });
  const options = { pauseMs: PAUSE_MS, longestPauseMs, clock, log, ...more };
  const worker = startWorker({ name: 'courier', runOnce }, options);
  running = worker;
  return { worker, clock, lines };
}

/** Waits until the worker is idle. */
async function rested(clock: ManualClock): Promise<void> {
  for (let turns = 0; turns < 1_000 && clock.sleepers() === 0; turns += 1) await turn();
  expect(clock.sleepers()).toBe(1);
}

test('runs again at once while there is work, then pauses and polls', async () => {
  const left = [3, 2, 1];
  let runs = 0;
  const { clock } = start(async () => {
    runs += 1;
    return left.pop() ?? 0;
  });
  await rested(clock);
  expect(runs).toBe(4);

  clock.advance(PAUSE_MS - 1);
  await turn();
  expect(runs).toBe(4);
  clock.advance(1);
  await rested(clock);

  expect(runs).toBe(5);
});

test('a nudge ends the pause, and a nudge during a run causes one more run', async () => {
  let runs = 0;
  const gate = Promise.withResolvers<void>();
  const { worker, clock } = start(async () => {
    runs += 1;
    if (runs === 2) await gate.promise;
    return 0;
  });
  await rested(clock);

  worker.nudge();
  await expect.poll(() => runs).toBe(2);
  worker.nudge();
  gate.resolve();
  await expect.poll(() => runs).toBe(3);

  await rested(clock);
  expect(runs).toBe(3);
});

test('a failure is retried after pauses that double up to a maximum, despite nudges', async () => {
  let runs = 0;
  const { worker, clock, lines } = start(async () => {
    runs += 1;
    if (runs <= 4) throw new Error(`no ${runs}`);
    return 0;
  });
  for (const [failures, restMs] of [500, 1_000, 2_000, 2_000].entries()) {
    await rested(clock);
    worker.nudge();
    clock.advance(restMs - 1);
    await turn();
    expect(runs).toBe(failures + 1);
    clock.advance(1);
    await expect.poll(() => runs).toBe(failures + 2);
  }

  await rested(clock);
  expect(runs).toBe(5);
  expect(lines[0]).toContain('no 1');
  expect(lines[0]).toContain('courier');
});

test('an explicit first pause after a failure is independent of a long poll interval', async () => {
  let runs = 0;
  const { clock } = start(
    async () => {
      runs += 1;
      if (runs <= 3) throw new Error(`no ${runs}`);
      return 0;
    },
    { pauseMs: 60_000, failurePauseMs: 200 },
  );

  for (const [failures, restMs] of [200, 400, 800].entries()) {
    await rested(clock);
    clock.advance(restMs - 1);
    await turn();
    expect(runs).toBe(failures + 1);
    clock.advance(1);
    await expect.poll(() => runs).toBe(failures + 2);
  }
});

test('of consecutive failures the first, second, fourth, eighth and so on are logged, with their number', async () => {
  let runs = 0;
  const { clock, lines } = start(async () => {
    runs += 1;
    if (runs === 11) return 0;
    throw new Error(`no ${runs}`);
  });
  for (let run = 1; run <= 12; run += 1) {
    await rested(clock);
    clock.advance(2_000);
    await expect.poll(() => runs).toBe(run + 1);
  }

  const failures = lines.map(line => JSON.parse(line)).map(({ failures, err }) => [failures, err.message]);
  expect(failures).toEqual([
    [1, 'no 1'],
    [2, 'no 2'],
    [4, 'no 4'],
    [8, 'no 8'],
    [1, 'no 12'],
    [2, 'no 13'],
  ]);
});

test('stop waits for the current run, aborts its signal, and starts no other', async () => {
  let runs = 0;
  let ended = false;
  const gate = Promise.withResolvers<void>();
  const told = Promise.withResolvers<void>();
  const { worker } = start(async signal => {
    runs += 1;
    signal.addEventListener('abort', () => told.resolve());
    await gate.promise;
    ended = true;
    return 1;
  });

  const stopped = worker.stop();
  await told.promise;
  expect(ended).toBe(false);
  gate.resolve();
  await stopped;

  expect(ended).toBe(true);
  await turn();
  expect(runs).toBe(1);
});

test('stop ends a pause, also one after a failure', async () => {
  const idle = start(async () => 0);
  await rested(idle.clock);
  await idle.worker.stop();
  const failing = start(async () => {
    throw new Error('no');
  });
  await rested(failing.clock);

  await failing.worker.stop();

  expect(failing.clock.sleepers()).toBe(0);
});

test('a run that ends with the signal’s own reason on stop is not a failure', async () => {
  const { worker, lines } = start(async signal => {
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    return 0;
  });

  await worker.stop();

  expect(lines).toEqual([]);
});

test('a run whose database is closed by a stop is logged as information, not as a failure', async () => {
  const { worker, lines } = start(async signal => {
    await new Promise(resolve => signal.addEventListener('abort', resolve));
    throw new Unavailable('The database cannot be reached now', new Error('Unable to acquire a connection'));
  });

  await worker.stop();

  expect(lines.map(line => JSON.parse(line))).toEqual([
    expect.objectContaining({
      level: 30,
      worker: 'courier',
      msg: 'a worker that was stopped did not finish its run',
    }),
  ]);
});

test('while a database is unavailable it is retried at least every five seconds', async () => {
  let runs = 0;
  const { clock } = start(
    async () => {
      runs += 1;
      throw new Unavailable('The database cannot be reached now', new Error('connect ECONNREFUSED'));
    },
    { longestPauseMs: 60_000 },
  );
  for (let failures = 0; failures < 10; failures += 1) {
    await rested(clock);
    clock.advance(5_000);
  }
  await rested(clock);

  expect(runs).toBe(11);
});
