import cluster from 'node:cluster';
import { expect, onTestFinished, test } from 'vitest';
import { createLogger, silentLogger } from '../../src/lib/logger.ts';
import { forkedWorker } from '../../src/program/workers/forked-worker.ts';
import { type Exit, supervise, type WorkerProcess } from '../../src/program/workers/supervisor.ts';
import { until } from '../lab/until.ts';
import { manualClock } from '../support/manual-clock.ts';

const SECOND = 1_000;

/** A worker process controlled by the test. */
function scriptedProcess(name: string) {
  const opened = Promise.withResolvers<void>();
  const ready = Promise.withResolvers<void>();
  const exited = Promise.withResolvers<Exit>();
  const told: string[] = [];
  const process: WorkerProcess = {
    pid: 1,
    opened: opened.promise,
    ready: ready.promise,
    exited: exited.promise,
    stop: () => void told.push('stop'),
    kill() {
      told.push('kill');
      exited.resolve({ code: null, signal: 'SIGKILL' });
    },
  };
  return {
    name,
    process,
    told,
    open() {
      opened.resolve();
      return turn();
    },
    getReady() {
      ready.resolve();
      return turn();
    },
    exit(code: number | null) {
      exited.resolve({ code, signal: code === null ? 'SIGKILL' : null });
      return turn();
    },
  };
}

/** Runs everything that needs no timer. */
const turn = () => new Promise(setImmediate);

function supervised(...names: string[]) {
  const clock = manualClock();
  const forks: ReturnType<typeof scriptedProcess>[] = [];
  const supervisor = supervise({
    parts: names.map(name => ({ name, roles: [] })),
    fork({ name }) {
      const made = scriptedProcess(name);
      forks.push(made);
      return made.process;
    },
    stopWithinMs: 10 * SECOND,
    clock,
    log: silentLogger(),
  });
  const advance = (ms: number) => {
    clock.advance(ms);
    return turn();
  };
  const started = () => forks.map(({ name }) => name);
  /** The started process with this index. */
  const fork = (index: number) => {
    const made = forks[index];
    if (made === undefined) throw new Error(`only ${forks.length} processes were started`);
    return made;
  };
  return { supervisor, forks, fork, names: started, advance };
}

test('the other workers start once the first one has opened', async () => {
  const { fork, names } = supervised('one', 'two', 'background');
  expect(names()).toEqual(['one']);

  await fork(0).open();

  expect(names()).toEqual(['one', 'two', 'background']);
});

test('a worker that ends by itself is restarted after 1 s, doubled up to 30 s while it keeps failing', async () => {
  const { fork, forks, advance } = supervised('one');
  await fork(0).open();
  for (const [index, seconds] of [1, 2, 4, 8, 16, 30, 30].entries()) {
    await fork(index).exit(null);
    await advance(seconds * SECOND - 1);
    expect(forks).toHaveLength(index + 1);
    await advance(1);
    expect(forks).toHaveLength(index + 2);
  }

  await advance(60 * SECOND);
  await fork(7).exit(1);
  await advance(SECOND);

  expect(forks).toHaveLength(9);
});

test('a worker that fails its first start ends the program with its code, one that had opened does not', async () => {
  const never = supervised('one', 'two');
  await never.fork(0).exit(2);
  const once = supervised('one');
  await once.fork(0).open();
  await once.fork(0).exit(2);
  await once.advance(SECOND);

  expect(await never.supervisor.refused).toBe(2);
  expect(never.forks).toHaveLength(1);
  expect(once.forks).toHaveLength(2);
});

test('a worker that fails its first start is restarted if another one has opened', async () => {
  const { fork, names, advance } = supervised('one', 'two');
  await fork(0).open();

  await fork(1).exit(1);
  await advance(SECOND);

  expect(names()).toEqual(['one', 'two', 'two']);
});

test('a worker with a setting at fault ends the program even if another one has opened', async () => {
  const { supervisor, fork } = supervised('one', 'two');
  await fork(0).open();

  await fork(1).exit(2);

  expect(await supervisor.refused).toBe(2);
});

test.each([
  ['in a missing folder', 'ENOENT', { cwd: '/does/not/exist' }, 'one'],
  // Node reports some failures by an exception, also that there is too little memory.
  ['with too long a variable', 'E2BIG', {}, 'x'.repeat(200_000)],
])(
  'a worker that cannot be started %s is retried, and does not prevent a stop',
  async (_, code, settings, name) => {
    cluster.setupPrimary(settings);
    onTestFinished(() => cluster.setupPrimary({ cwd: undefined }));
    const clock = manualClock();
    const lines: string[] = [];
    const supervisor = supervise({
      parts: [{ name, roles: [] }],
      fork: forkedWorker,
      stopWithinMs: 10 * SECOND,
      clock,
      log: createLogger({ level: 'info', destination: { write: line => void lines.push(line) } }),
    });
    const restarts = (count: number) =>
      until(
        async () => supervisor.slots[0]?.restarts,
        value => value === count,
      );

    expect(await restarts(1)).toBe(1);
    clock.advance(SECOND);
    expect(await restarts(2)).toBe(2);
    clock.advance(2 * SECOND);
    await supervisor.stop();

    expect(lines.every(line => line.includes('spawn') && line.includes(code))).toBe(true);
  },
);

test('workers are replaced one by one, and each is stopped once its successor is ready', async () => {
  const { supervisor, fork, names, advance } = supervised('one', 'two');
  await fork(0).open();
  const replaced = supervisor.replaceAll();
  await advance(0);
  expect(names()).toEqual(['one', 'two', 'one']);
  expect(fork(0).told).toEqual([]);

  await fork(2).getReady();
  expect(fork(0).told).toEqual(['stop']);
  expect(names()).toHaveLength(3);
  await fork(0).exit(0);
  expect(names()).toEqual(['one', 'two', 'one', 'two']);
  await fork(3).getReady();
  await fork(1).exit(0);
  await replaced;

  expect(supervisor.slots.map(({ process }) => process)).toEqual([fork(2).process, fork(3).process]);
  expect(supervisor.slots.map(({ restarts }) => restarts)).toEqual([0, 0]);
});

test.each([
  ['ends', (made: ReturnType<typeof scriptedProcess>) => made.exit(2), 0],
  ['is not ready within a minute', turn, 60 * SECOND],
])('a successor that %s leaves the workers unchanged', async (_, fail, afterMs) => {
  const { supervisor, fork, names, advance } = supervised('one', 'two');
  await fork(0).open();
  const replaced = supervisor.replaceAll();
  await advance(0);

  await fail(fork(2));
  await advance(afterMs);
  await fork(2).exit(0);
  await replaced;

  expect(names()).toEqual(['one', 'two', 'one']);
  expect([fork(0).told, fork(1).told]).toEqual([[], []]);
  expect(supervisor.slots.map(({ process }) => process)).toEqual([fork(0).process, fork(1).process]);
});

test('a stop ends all workers, kills late ones and restarts none', async () => {
  const { supervisor, fork, forks, advance } = supervised('one', 'two');
  await fork(0).open();

  const stopped = supervisor.stop();
  await fork(0).exit(0);
  await advance(10 * SECOND - 1);
  expect([fork(0).told, fork(1).told]).toEqual([['stop'], ['stop']]);
  await advance(1);
  await stopped;
  await advance(60 * SECOND);

  expect(fork(1).told).toEqual(['stop', 'kill']);
  expect(forks).toHaveLength(2);
});
