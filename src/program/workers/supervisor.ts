import type { WorkerPart } from '#config/environment.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';

/** How a process ended: an exit code, or the signal that ended it. Neither when it could not be started. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** A process with a part of the work, as its parent sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Resolves when its services are open. */
  readonly opened: Promise<void>;
  /** Resolves when it may have requests. */
  readonly ready: Promise<unknown>;
  readonly exited: Promise<Exit>;
  /** Tells it to drain and end. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
}

/** The place of one worker, in which processes follow each other. */
export interface WorkerPlace<Process extends WorkerProcess = WorkerProcess> {
  readonly part: WorkerPart;
  /** Undefined before the first one, and during a rest after it ended by itself. */
  readonly process: Process | undefined;
  /** Processes that ended by themselves. */
  readonly restarts: number;
}

interface Place<Process extends WorkerProcess> extends WorkerPlace<Process> {
  process: Process | undefined;
  restarts: number;
  startedAt: number;
  /** Ends in a row, each after less than `STEADY_MS`. */
  failures: number;
  hasOpened: boolean;
}

export interface SupervisorOptions<Process extends WorkerProcess> {
  readonly parts: readonly WorkerPart[];
  readonly fork: (part: WorkerPart) => Process;
  /** Time in which a process that is told to stop has to end; afterwards it is killed. */
  readonly stopWithinMs: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Keeps a process at work for each part. */
export interface Supervisor<Process extends WorkerProcess> {
  readonly places: readonly WorkerPlace<Process>[];
  /** Resolves with the exit code of a process that refused its first start for a reason that all workers share. */
  readonly refused: Promise<number>;
  /** Replaces the processes one after the other: each ends once its successor is ready. Stops at one that does not get ready. */
  replaceAll(): Promise<void>;
  /** Tells all processes to end, and resolves when they have. */
  stop(): Promise<void>;
  kill(): void;
}

/** Exit code of a process whose configuration cannot be right. */
const REFUSED_SETTING = 2;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** A process that lived for so long is not failing again and again. */
const STEADY_MS = 60_000;
/** Time that a successor has to get ready. */
const READY_WITHIN_MS = 60_000;

/** Starts the first process, and the others once it has opened: by then databases are migrated and addresses are free. */
export function supervise<Process extends WorkerProcess>(
  options: SupervisorOptions<Process>,
): Supervisor<Process> {
  const { parts, fork, stopWithinMs, clock, log } = options;
  const stopping = new AbortController();
  const refused = Promise.withResolvers<number>();
  const alive = new Set<Process>();
  const places = parts.map((part): Place<Process> => {
    return { part, process: undefined, restarts: 0, startedAt: 0, failures: 0, hasOpened: false };
  });
  let replacing: Promise<void> | undefined;
  const [first, ...others] = places;
  if (first !== undefined) {
    begin(first, () => {
      for (const place of others) if (place.process === undefined) begin(place);
    });
  }

  return {
    places,
    refused: refused.promise,
    replaceAll() {
      replacing ??= replaceEach().finally(() => {
        replacing = undefined;
      });
      return replacing;
    },
    async stop() {
      stopping.abort();
      await Promise.all([...alive].map(end));
    },
    kill() {
      stopping.abort();
      for (const process of alive) process.kill();
    },
  };

  function forked(part: WorkerPart): Process {
    const process = fork(part);
    alive.add(process);
    void process.exited.then(() => alive.delete(process));
    return process;
  }

  function begin(place: Place<Process>, onOpened?: () => void): void {
    if (stopping.signal.aborted) return;
    watch(place, forked(place.part), onOpened);
  }

  function watch(place: Place<Process>, process: Process, onOpened?: () => void): void {
    place.process = process;
    place.startedAt = clock.now();
    void process.opened.then(() => {
      place.hasOpened = true;
      onOpened?.();
    });
    void process.exited.then(exit => ended(place, { process, exit, onOpened }));
  }

  async function ended(
    place: Place<Process>,
    { process, exit, onOpened }: { process: Process; exit: Exit; onOpened: (() => void) | undefined },
  ): Promise<void> {
    if (stopping.signal.aborted || place.process !== process) return;
    if (isRefusal(place, exit.code)) return refused.resolve(exit.code);
    const { name } = place.part;
    place.process = undefined;
    place.restarts += 1;
    place.failures = clock.now() - place.startedAt >= STEADY_MS ? 1 : place.failures + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (place.failures - 1), LONGEST_PAUSE_MS);
    log.error({ worker: name, pid: process.pid, ...exit, pauseMs }, 'a worker ended and is started again');
    await clock.sleep(pauseMs, stopping.signal).catch(() => undefined); // stopped
    if (place.process === undefined) begin(place, onOpened);
  }

  /** True for a setting at fault, and for a failure that all workers would share since none has opened. */
  function isRefusal({ hasOpened }: Place<Process>, code: number | null): code is number {
    if (hasOpened || code === null || code === 0) return false;
    return code === REFUSED_SETTING || !places.some(place => place.hasOpened);
  }

  async function replaceEach(): Promise<void> {
    log.info('replacing the workers one after the other');
    for (const place of places) {
      if (stopping.signal.aborted) return;
      if (!(await replace(place))) return;
    }
    if (!stopping.signal.aborted) log.info('all workers are replaced');
  }

  /** True when the place has its successor. */
  async function replace(place: Place<Process>): Promise<boolean> {
    const { name } = place.part;
    const next = forked(place.part);
    if (!(await getsReady(next))) {
      if (stopping.signal.aborted) return false;
      log.error(
        { worker: name },
        'the successor of a worker does not get ready: the workers go on as they are',
      );
      await end(next);
      return false;
    }
    const before = place.process;
    place.failures = 0;
    watch(place, next);
    if (before !== undefined) await end(before);
    return true;
  }

  function getsReady(process: Process): Promise<boolean> {
    return within(READY_WITHIN_MS, [
      process.ready.then(() => true),
      process.exited.then(() => false),
      new Promise(resolve => stopping.signal.addEventListener('abort', () => resolve(false))),
    ]);
  }

  async function end(process: Process): Promise<void> {
    process.stop();
    if (await within(stopWithinMs, [process.exited.then(() => true)])) return;
    log.error({ pid: process.pid }, 'a worker does not end and is killed');
    process.kill();
    await process.exited;
  }

  /** The first outcome; false when none comes in time. */
  async function within(ms: number, outcomes: readonly Promise<boolean>[]): Promise<boolean> {
    const over = new AbortController();
    const late = clock.sleep(ms, over.signal).then(
      () => false,
      () => false,
    );
    try {
      return await Promise.race([...outcomes, late]);
    } finally {
      over.abort();
    }
  }
}
