import { AggregatorRegistry, Gauge } from 'prom-client';
import type { Metrics } from '#http/metrics.ts';
import type { ForkedWorker } from './forked-worker.ts';
import type { WorkerPlace } from './supervisor.ts';

/** Registers the parent's own metrics about its workers. */
export function registerWorkerGauges(
  { registry }: Pick<Metrics, 'registry'>,
  places: () => readonly WorkerPlace[],
): void {
  const labelNames = ['worker'];
  const registers = [registry];
  new Gauge({
    name: 'tollgate_worker_up',
    help: '1 while a worker runs, 0 during the pause after it ended by itself',
    labelNames,
    registers,
    collect() {
      for (const { part, process } of places())
        this.set({ worker: part.name }, process === undefined ? 0 : 1);
    },
  });
  new Gauge({
    name: 'tollgate_worker_restarts',
    help: 'Times that a worker ended by itself and was started again',
    labelNames,
    registers,
    collect() {
      for (const { part, restarts } of places()) this.set({ worker: part.name }, restarts);
    },
  });
}

/** Metrics of this process and of all workers, summed, as text. Workers that do not answer are left out. */
export async function addedMetrics(
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
