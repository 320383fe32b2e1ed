import type { WorkerPart } from '#config/environment.ts';
import type { ClockAndLog } from '#lib/logger.ts';

/** End of a process: an exit code, or the signal that ended it. Both are null when it could not be started. */
export interface Exit {
  readonly code: number | null;
  readonly signal: string | null;
  /** Reason why it could not be started. */
  readonly err?: unknown;
}

/** A process with a part of the work, as its parent sees it. */
export interface WorkerProcess {
  readonly pid: number | undefined;
  /** Resolves when its services are open. */
  readonly opened: Promise<void>;
  /** Resolves when it accepts requests. */
  readonly ready: Promise<unknown>;
  readonly exited: Promise<Exit>;
  /** Starts its drain, after which it ends. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
}

/** Slot of one worker. When its process ends or is replaced, the next process takes the same slot. */
export interface WorkerSlot<Process extends WorkerProcess = WorkerProcess> {
  readonly part: WorkerPart;
  /** Undefined before the first start, and during the pause after a process ended by itself. */
  readonly process: Process | undefined;
  /** Number of processes that ended by themselves. */
  readonly restarts: number;
}

interface Slot<Process extends WorkerProcess> extends WorkerSlot<Process> {
  process: Process | undefined;
  restarts: number;
  startedAt: number;
  /** Consecutive failures: ends of the process by itself, each within `STEADY_MS` of its start. */
  failures: number;
  hasOpened: boolean;
}

export interface SupervisorOptions<Process extends WorkerProcess> extends ClockAndLog {
  readonly parts: readonly WorkerPart[];
  readonly fork: (part: WorkerPart) => Process;
  /** Time for a process to end after `stop`; then it is killed. */
  readonly stopWithinMs: number;
}

/** Keeps one process running for each part. */
export interface Supervisor<Process extends WorkerProcess> {
  readonly slots: readonly WorkerSlot<Process>[];
  /** Resolves with the exit code of a process whose first start failed for a reason that all workers share. */
  readonly refused: Promise<number>;
  /**
   * Replaces the processes one by one. Each ends once its successor is ready. Stops when a successor does not get
   * ready.
   */
  replaceAll(): Promise<void>;
  /** Stops all processes, and resolves when they have ended. */
  stop(): Promise<void>;
  kill(): void;
}

/** Exit code of a process with an invalid configuration. */
const REFUSED_SETTING = 2;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** Uptime after which the next failure counts as the first one. */
const STEADY_MS = 60_000;
/** Time for a successor to get ready. */
const READY_WITHIN_MS = 60_000;

/**
 * Starts the first process, and the others once its services are open. By then the databases are migrated, and the
 * addresses have turned out to be free.
 */
export function supervise<Process extends WorkerProcess>(
  options: SupervisorOptions<Process>,
): Supervisor<Process> {
  const { parts, fork, stopWithinMs, clock, log } = options;
  const stopping = new AbortController();
  const refused = Promise.withResolvers<number>();
  const alive = new Set<Process>();
  const slots = parts.map((part): Slot<Process> => {
    return { part, process: undefined, restarts: 0, startedAt: 0, failures: 0, hasOpened: false };
  });
  let replacing: Promise<void> | undefined;
  const [first, ...others] = slots;
  if (first !== undefined) {
    begin(first, () => {
      for (const slot of others) if (slot.process === undefined) begin(slot);
    });
  }

  return {
    slots,
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

  function begin(slot: Slot<Process>, onOpened?: () => void): void {
    if (stopping.signal.aborted) return;
    watch(slot, forked(slot.part), onOpened);
  }

  function watch(slot: Slot<Process>, process: Process, onOpened?: () => void): void {
    slot.process = process;
    slot.startedAt = clock.now();
    void process.opened.then(() => {
      slot.hasOpened = true;
      onOpened?.();
    });
    void process.exited.then(exit => ended(slot, { process, exit, onOpened }));
  }

  async function ended(
    slot: Slot<Process>,
    { process, exit, onOpened }: { process: Process; exit: Exit; onOpened: (() => void) | undefined },
  ): Promise<void> {
    if (stopping.signal.aborted || slot.process !== process) return;
    if (isRefused(slot, exit.code)) return refused.resolve(exit.code);
    const { name } = slot.part;
    slot.process = undefined;
    slot.restarts += 1;
    slot.failures = clock.now() - slot.startedAt >= STEADY_MS ? 1 : slot.failures + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (slot.failures - 1), LONGEST_PAUSE_MS);
    log.error({ worker: name, pid: process.pid, ...exit, pauseMs }, 'a worker ended and will be restarted');
    await clock.sleep(pauseMs, stopping.signal).catch(() => undefined); // stopped
    if (slot.process === undefined) begin(slot, onOpened);
  }

  /** True for an invalid configuration, and for a failed first start while no worker has opened. */
  function isRefused({ hasOpened }: Slot<Process>, code: number | null): code is number {
    if (hasOpened || code === null || code === 0) return false;
    return code === REFUSED_SETTING || !slots.some(slot => slot.hasOpened);
  }

  async function replaceEach(): Promise<void> {
    log.info('replacing the workers one after the other');
    for (const slot of slots) {
      if (stopping.signal.aborted) return;
      if (!(await replace(slot))) return;
    }
    if (!stopping.signal.aborted) log.info('all workers are replaced');
  }

  /** Replaces one process. True when its successor has taken the slot. */
  async function replace(slot: Slot<Process>): Promise<boolean> {
    const { name } = slot.part;
    const next = forked(slot.part);
    if (!(await getsReady(next))) {
      if (stopping.signal.aborted) return false;
      log.error(
        { worker: name },
        'the successor of a worker does not get ready: the current workers keep running',
      );
      await end(next);
      return false;
    }
    const before = slot.process;
    slot.failures = 0;
    watch(slot, next);
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

  /** Resolves with the first outcome; false when none comes in time. */
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
