import { AggregatorRegistry, Gauge } from 'prom-client';
import type { Config } from '#config/config.ts';
import type { WorkerPart } from '#config/environment.ts';
import type { ReadinessCheck } from '#http/health.ts';
import { createMetrics, type Metrics } from '#http/metrics.ts';
import { type OperatorView, openAdminListener } from '#http/server/admin-listener.ts';
import { isPlainObject } from '#lib/json.ts';
import { type Announcement, announceNews, type ClockAndLog, type Logger } from '#lib/logger.ts';
import { build } from '#lib/version.ts';
import { type ForkedWorker, forkedWorker } from './forked-worker.ts';
import { type Supervisor, supervise, type WorkerSlot } from './supervisor.ts';

interface ParentOptions extends ClockAndLog {
  readonly config: Config;
  readonly parts: readonly WorkerPart[];
  /** Resolves with the reason when the program must stop. */
  readonly stopped: Promise<string>;
}

type Slot = WorkerSlot<ForkedWorker>;

/** Time for a worker to end, in addition to the drain: a delivery attempt takes up to 30 s and is not aborted. */
const END_WITHIN_MS = 35_000;
/** Not the usual SIGHUP, because a closing terminal sends that to the processes that must end with it. */
const REPLACING_SIGNAL = 'SIGUSR2';

/**
 * Composition root of the parent. It accepts connections for its workers, supervises them, and reports all of them to
 * the operator as one. Resolves when every worker has ended. Workers share one address (Decision 261).
 */
export async function runParent({ config, parts, stopped, clock, log }: ParentOptions): Promise<void> {
  const { countForWorkers } = await import('#stores/insured-counters.ts');
  countForWorkers();
  const metrics = createMetrics({ ofProcess: true });
  let supervisor: Supervisor<ForkedWorker> | undefined;
  const slots = (): readonly Slot[] => supervisor?.slots ?? [];
  let isLeaving = false;
  const leave = async (): Promise<void> => {
    const isServing = slots().some(slot => slot.process?.isOpen());
    if (config.server.lameDuckMs === 0 || !isServing) return;
    isLeaving = true;
    for (const slot of slots()) slot.process?.leave();
    log.info({ lameDuckMs: config.server.lameDuckMs }, 'no longer ready, and stopping soon');
    await clock.sleep(config.server.lameDuckMs);
  };
  registerWorkerGauges(metrics, slots);
  const admin = await openAdminListener(config.admin, {
    view: viewOf(config, { parts, slots }),
    isLeaving: () => isLeaving,
    metrics,
    scraped: {
      contentType: metrics.registry.contentType,
      metrics: () => addedMetrics(metrics, slots().flatMap(openProcess)),
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
    await superviseUntil(stopped, supervisor, { leave, log });
  } finally {
    await admin.close();
  }
}

async function superviseUntil(
  stopped: Promise<string>,
  supervisor: Supervisor<ForkedWorker>,
  { leave, log }: { leave: () => Promise<void>; log: Logger },
): Promise<void> {
  const replaceAll = () => void supervisor.replaceAll();
  if (process.platform !== 'win32') process.on(REPLACING_SIGNAL, replaceAll);
  const reason = await Promise.race([stopped, supervisor.refused]);
  // The worker itself has logged the reason.
  if (typeof reason === 'number') process.exitCode = reason;
  const endNow = () => {
    supervisor.kill();
    process.exitCode = 1;
  };
  process.on('SIGINT', endNow);
  // A launcher may add a SIGTERM to the first signal, see `stopRequest`.
  process.once('SIGTERM', () => process.on('SIGTERM', endNow));
  if (reason === 'SIGTERM') await leave();
  log.info({ signal: reason }, 'stopping the workers');
  await supervisor.stop();
  process.off(REPLACING_SIGNAL, replaceAll);
}

/** Logs once that all workers are ready, in the words of the first. */
function readinessOf(parts: readonly WorkerPart[], log: Logger) {
  const notes = new Map<WorkerPart, Announcement>();
  return (part: WorkerPart, note: Announcement): void => {
    if (notes.size === parts.length) return;
    notes.set(part, note);
    const [first] = parts;
    const announcement = first && notes.get(first);
    if (notes.size === parts.length && announcement !== undefined) announceNews(log, announcement);
  };
}

function viewOf(
  { roles }: Config,
  { parts, slots }: { parts: readonly WorkerPart[]; slots: () => readonly Slot[] },
): OperatorView {
  const slotOf = ({ name }: WorkerPart) => slots().find(({ part }) => part.name === name);
  return {
    checks: Object.fromEntries(parts.map(part => [part.name, checkOf(() => slotOf(part))])),
    status: {
      process: async () => ({ pid: process.pid, ...build(), roles, workers: parts.map(({ name }) => name) }),
      ...Object.fromEntries(parts.map(part => [part.name, () => statusOf(part, slotOf(part))])),
    },
  };
}

/** Check that passes when all checks of the worker pass. */
function checkOf(slotOf: () => Slot | undefined): ReadinessCheck {
  return async () => {
    const worker = slotOf()?.process;
    if (worker?.isOpen() !== true) return { ok: false, detail: 'starting' };
    const outcomes = await worker.ask('checks');
    const all = isPlainObject(outcomes) ? Object.entries(outcomes) : [];
    const failed = all.filter(([, outcome]) => !isPlainObject(outcome) || outcome.ok !== true);
    if (failed.length === 0) return { ok: true };
    return { ok: false, detail: failed.map(([name]) => name).join(', ') };
  };
}

async function statusOf({ roles }: WorkerPart, slot: Slot | undefined): Promise<object> {
  const { process: worker, restarts = 0 } = slot ?? {};
  const states = worker?.isOpen() === true ? await worker.ask('status') : {};
  return { pid: worker?.pid ?? null, roles, restarts, ...(isPlainObject(states) ? states : {}) };
}

/** Process of a slot, once its services are open; before that it answers no questions. */
function openProcess({ process: worker }: Slot): ForkedWorker[] {
  return worker?.isOpen() === true ? [worker] : [];
}

/** Registers the parent's own metrics about its workers. */
export function registerWorkerGauges(
  { registry }: Pick<Metrics, 'registry'>,
  slots: () => readonly WorkerSlot[],
): void {
  const labelNames = ['worker'];
  const registers = [registry];
  new Gauge({
    name: 'tollgate_worker_up',
    help: '1 while a worker runs, 0 during the pause after it ended by itself',
    labelNames,
    registers,
    collect() {
      for (const { part, process } of slots()) this.set({ worker: part.name }, process === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: 'tollgate_worker_restarts',
    help: 'Times that a worker ended by itself and was started again',
    labelNames,
    registers,
    collect() {
      for (const { part, restarts } of slots()) this.set({ worker: part.name }, restarts);
    },
  });
}

/** Metrics of this process and of all workers, summed, as text. Workers that do not answer are left out. */
async function addedMetrics(
  { registry }: Pick<Metrics, 'registry'>,
  workers: readonly ForkedWorker[],
): Promise<string> {
  const answers = await Promise.allSettled(workers.map(worker => worker.ask('metrics')));
  const ofWorkers = answers.map(answer => (answer.status === 'fulfilled' ? answer.value : []));
  return AggregatorRegistry.aggregate(
    [...ofWorkers, await registry.getMetricsAsJSON()].filter(isList),
  ).metrics();
}

function isList(value: unknown): value is object[] {
  return Array.isArray(value);
}
