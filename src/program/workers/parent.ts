import type { Config } from '#config/config.ts';
import type { WorkerPart } from '#config/environment.ts';
import type { Check } from '#http/health.ts';
import { createMetrics } from '#http/metrics.ts';
import { type OperatorView, openAdminListener } from '#http/server/admin-listener.ts';
import type { Clock } from '#lib/clock.ts';
import { isPlainObject } from '#lib/json.ts';
import type { Logger } from '#lib/logger.ts';
import { addedMetrics, registerWorkerGauges } from './added-metrics.ts';
import { type ForkedWorker, forkedWorker, type ReadyNote } from './forked-worker.ts';
import { type Supervisor, supervise, type WorkerPlace } from './supervisor.ts';

interface ParentOptions {
  readonly config: Config;
  readonly parts: readonly WorkerPart[];
  /** Resolves when the program is to stop, with what said so. */
  readonly stopped: Promise<string>;
  readonly clock: Clock;
  readonly log: Logger;
}

type Place = WorkerPlace<ForkedWorker>;

/** Time beside the drain in which a worker ends: an attempt to deliver takes 30 s at most and is not cut off. */
const END_WITHIN_MS = 35_000;
/** SIGHUP would be the usual one, but a terminal that closes sends it to what is to end with it. */
const REPLACING_SIGNAL = 'SIGUSR2';

/**
 * Composition root of the parent: it accepts connections for its workers, supervises them, and shows the operator all of
 * them as one. Resolves when every worker has ended. Decision 261.
 */
export async function runParent({ config, parts, stopped, clock, log }: ParentOptions): Promise<void> {
  const { countForWorkers } = await import('#stores/worker-counters.ts');
  countForWorkers();
  const metrics = createMetrics({ ofProcess: true });
  let supervisor: Supervisor<ForkedWorker> | undefined;
  const places = (): readonly Place[] => supervisor?.places ?? [];
  registerWorkerGauges(metrics, places);
  const admin = await openAdminListener(config.admin.listen, {
    view: viewOf(config, { parts, places }),
    metrics,
    scraped: {
      contentType: metrics.registry.contentType,
      metrics: () => addedMetrics(metrics, places().flatMap(openProcess)),
    },
    clock,
    log,
  });
  try {
    const announce = readinessOf(parts, log);
    supervisor = supervise({
      parts,
      fork(part) {
        const worker = forkedWorker(part);
        void worker.ready.then(note => announce(part, note));
        return worker;
      },
      stopWithinMs: config.server.drainMs + END_WITHIN_MS,
      clock,
      log,
    });
    await superviseUntil(stopped, supervisor, log);
  } finally {
    await admin.close();
  }
}

async function superviseUntil(
  stopped: Promise<string>,
  supervisor: Supervisor<ForkedWorker>,
  log: Logger,
): Promise<void> {
  const replaceAll = () => void supervisor.replaceAll();
  if (process.platform !== 'win32') process.on(REPLACING_SIGNAL, replaceAll);
  const reason = await Promise.race([stopped, supervisor.refused]);
  log.info({ signal: reason }, 'stopping the workers');
  // A worker has said itself why it cannot start.
  if (typeof reason === 'number') process.exitCode = reason;
  const endNow = () => {
    supervisor.kill();
    process.exitCode = 1;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    if (signal === reason) process.on(signal, endNow);
    // A launcher adds a SIGTERM to the Ctrl+C of a terminal: only a repeated one is urgent.
    else process.once(signal, () => process.on(signal, endNow));
  }
  await supervisor.stop();
  process.off(REPLACING_SIGNAL, replaceAll);
}

/** Says once that all workers are ready, in the words of the first. */
function readinessOf(parts: readonly WorkerPart[], log: Logger) {
  const notes = new Map<WorkerPart, ReadyNote>();
  return (part: WorkerPart, note: ReadyNote): void => {
    if (notes.size === parts.length) return;
    notes.set(part, note);
    const [first] = parts;
    const words = first && notes.get(first);
    if (notes.size === parts.length && words !== undefined) log.info(words.fields, words.words);
  };
}

function viewOf(
  { roles }: Config,
  { parts, places }: { parts: readonly WorkerPart[]; places: () => readonly Place[] },
): OperatorView {
  const placeOf = ({ name }: WorkerPart) => places().find(({ part }) => part.name === name);
  return {
    checks: Object.fromEntries(parts.map(part => [part.name, checkOf(() => placeOf(part))])),
    status: {
      process: async () => ({ pid: process.pid, roles, workers: parts.map(({ name }) => name) }),
      ...Object.fromEntries(parts.map(part => [part.name, () => statusOf(part, placeOf(part))])),
    },
  };
}

/** In order when everything is that the worker itself checks. */
function checkOf(placeOf: () => Place | undefined): Check {
  return async () => {
    const worker = placeOf()?.process;
    if (worker?.isOpen() !== true) return { ok: false, detail: 'starting' };
    const outcomes = await worker.ask('checks');
    const all = isPlainObject(outcomes) ? Object.entries(outcomes) : [];
    const failed = all.filter(([, outcome]) => !isPlainObject(outcome) || outcome.ok !== true);
    if (failed.length === 0) return { ok: true };
    return { ok: false, detail: failed.map(([name]) => name).join(', ') };
  };
}

async function statusOf({ roles }: WorkerPart, place: Place | undefined): Promise<object> {
  const { process: worker, restarts = 0 } = place ?? {};
  const states = worker?.isOpen() === true ? await worker.ask('status') : {};
  return { pid: worker?.pid ?? null, roles, restarts, ...(isPlainObject(states) ? states : {}) };
}

/** The process of a place, which can be asked from when its services are open. */
function openProcess({ process: worker }: Place): ForkedWorker[] {
  return worker?.isOpen() === true ? [worker] : [];
}
