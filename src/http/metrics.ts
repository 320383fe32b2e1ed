import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { build } from '../lib/version.ts';
import { type IndexFigures, registerIndexMetrics } from './index-metrics.ts';

/** Metrics of a process; `registry` writes them in Prometheus' text format. */
export interface Metrics {
  registry: Registry;
  request(operation: string, status: number, seconds: number): void;
  /** Counts a cache result: hit, miss, stale … */
  cacheResult(result: string): void;
  /** Counts a call to a back end; `outcome` is ok or the kind of its error. */
  backendCall(call: { chain: string; backend: string; outcome: string; seconds?: number }): void;
  /** Counts a record of a back end that does not fit the contract. */
  droppedRecord(record: { chain: string; backend: string; kind: string }): void;
  /** Counts tolerated failures of a store, such as `cache`. A count of 0 creates the counter. */
  storeFailures(store: string, count: number): void;
  /** Updates the number of open connections: `change` is 1 for an opened one and -1 for a closed one. */
  openConnections(listener: string, change: 1 | -1): void;
  refusedConnection(listener: string, reason: 'total' | 'address'): void;
  /** Counts a connection that was closed because its client took no byte of a response for too long. */
  stalledConnection(listener: string): void;
  /** Updates the number of open streams of events: `change` is 1 for an opened one and -1 for a closed one. */
  openStreams(change: 1 | -1): void;
  /** Counts a stream of events that was ended because its client did not read it. */
  droppedStream(): void;
  /** Adds a database. `aheadMs` returns the milliseconds by which this machine's clock is ahead of its clock. */
  watchClock(database: string, aheadMs: () => number): void;
  /** Adds a source of index progress, read at every scrape. If a read fails, the scrape omits its chains. */
  watchIndex(read: () => readonly IndexFigures[] | Promise<readonly IndexFigures[]>): void;
}

/** Responses of one operation that are not in the registry yet. */
interface NewResponses {
  readonly operation: string;
  /** Number of responses by status. */
  readonly counts: Map<number, number>;
  /** Durations of the responses, one entry each. */
  readonly seconds: number[];
}

const REQUEST_BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Number of responses of one operation that are counted together. Counting each one would cost more than a cached
 * response, and a batch of a thousand would block the event loop for a millisecond.
 */
const BATCH = 100;

const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Creates metrics in a new registry. `ofProcess` adds the build, and Node's memory, CPU, event loop and collections. */
export function createMetrics({ ofProcess = false }: { ofProcess?: boolean } = {}): Metrics {
  const registry = new Registry();
  const registers = [registry];
  if (ofProcess) {
    registerBuild(registry);
    collectDefaultMetrics({ register: registry });
    // Gauges with names like counters. Each is the sum of another gauge that has the kinds as labels.
    for (const name of MISNAMED) registry.removeSingleMetric(name);
  }
  const indexReads: Parameters<Metrics['watchIndex']>[0][] = [];

  const counter = counterIn(registry);
  const lookUps = new Map<string, number>();
  new Counter({
    name: 'tollgate_cache_results_total',
    help: 'Look-ups in the response cache by result',
    labelNames: ['result'],
    registers,
    collect() {
      for (const [result, count] of lookUps) if (count > 0) this.inc({ result }, count);
      for (const result of lookUps.keys()) lookUps.set(result, 0);
    },
  });
  const storeFailures = counter(
    'tollgate_store_failures_total',
    'Tolerated failures of shared stores, by store (cache or limits)',
    ['store'],
  );
  const backendCalls = counter(
    'tollgate_backend_calls_total',
    'Calls to back ends by chain, back end and outcome',
    ['chain', 'backend', 'outcome'],
  );
  const backendSeconds = new Histogram({
    name: 'tollgate_backend_call_duration_seconds',
    help: 'Time of calls to back ends, by chain and back end',
    labelNames: ['chain', 'backend'],
    buckets: REQUEST_BUCKETS_S,
    registers,
  });
  const droppedRecords = counter(
    'tollgate_backend_dropped_records_total',
    'Records of back ends that do not fit the contract, by chain, back end and kind',
    ['chain', 'backend', 'kind'],
  );
  const clocks = new Map<string, () => number>();
  new Gauge({
    name: 'tollgate_clock_ahead_seconds',
    help: 'Time by which the clock of this machine is ahead of the clock of a database, negative when it is behind',
    labelNames: ['database'],
    aggregator: 'max', // processes of one machine report the same
    registers,
    collect() {
      for (const [database, aheadMs] of clocks) this.set({ database }, aheadMs() / 1000);
    },
  });
  registerIndexMetrics(registry, readIndexes);

  async function readIndexes(): Promise<IndexFigures[]> {
    const reads = await Promise.allSettled(indexReads.map(async read => read()));
    return reads.flatMap(read => (read.status === 'fulfilled' ? read.value : []));
  }

  return {
    registry,
    request: requestMetrics(registry),
    ...connectionMetrics(registry),
    cacheResult: result => void lookUps.set(result, (lookUps.get(result) ?? 0) + 1),
    storeFailures: (store, count) => storeFailures.inc({ store }, count),
    backendCall: ({ chain, backend, outcome, seconds }) => {
      backendCalls.inc({ chain, backend, outcome });
      if (seconds !== undefined) backendSeconds.observe({ chain, backend }, seconds);
    },
    droppedRecord: record => droppedRecords.inc(record),
    watchClock: (database, aheadMs) => void clocks.set(database, aheadMs),
    watchIndex: read => indexReads.push(read),
  };
}

/** Registers the metrics of answered requests. Answers are added in batches, because each addition takes time. */
function requestMetrics(registry: Registry): Metrics['request'] {
  const answered = new Map<string, NewResponses>();
  const requests = new Counter({
    name: 'tollgate_http_requests_total',
    help: 'Answered requests by operation and status',
    labelNames: ['operation', 'status'],
    registers: [registry],
    collect: addAnswered,
  });
  const requestSeconds = new Histogram({
    name: 'tollgate_http_request_duration_seconds',
    help: 'Time to produce a response, by operation',
    labelNames: ['operation'],
    buckets: REQUEST_BUCKETS_S,
    registers: [registry],
    collect: addAnswered,
  });

  function addAnswered(): void {
    for (const one of answered.values()) addAnsweredOf(one);
  }

  function addAnsweredOf({ operation, counts, seconds }: NewResponses): void {
    for (const [status, count] of counts) if (count > 0) requests.inc({ operation, status }, count);
    for (const status of counts.keys()) counts.set(status, 0);
    for (const duration of seconds) requestSeconds.observe({ operation }, duration);
    seconds.length = 0;
  }

  return (operation, status, seconds) => {
    const known = answered.get(operation);
    const one = known ?? { operation, counts: new Map<number, number>(), seconds: [] };
    if (known === undefined) answered.set(operation, one);
    one.counts.set(status, (one.counts.get(status) ?? 0) + 1);
    one.seconds.push(seconds);
    if (one.seconds.length >= BATCH) addAnsweredOf(one);
  };
}

type ConnectionMetrics = Pick<
  Metrics,
  'openConnections' | 'refusedConnection' | 'stalledConnection' | 'openStreams' | 'droppedStream'
>;

/** Registers the metrics of connections and of the streams of live events. */
function connectionMetrics(registry: Registry): ConnectionMetrics {
  const counter = counterIn(registry);
  const openConnections = new Gauge({
    name: 'tollgate_http_connections',
    help: 'Open connections by listener',
    labelNames: ['listener'],
    registers: [registry],
  });
  const refusedConnections = counter(
    'tollgate_http_refused_connections_total',
    'Connections closed at once, by listener and exceeded limit (total or address)',
    ['listener', 'reason'],
  );
  const stalledConnections = counter(
    'tollgate_http_stalled_connections_total',
    'Connections closed because the client took no byte of a response for 30 seconds, by listener',
    ['listener'],
  );
  const openStreams = new Gauge({
    name: 'tollgate_live_streams',
    help: 'Open streams of live events',
    registers: [registry],
  });
  const droppedStreams = counter(
    'tollgate_live_dropped_streams_total',
    'Streams of live events that were ended because the client did not read them',
    [],
  );
  return {
    openConnections: (listener, change) => openConnections.inc({ listener }, change),
    refusedConnection: (listener, reason) => refusedConnections.inc({ listener, reason }),
    stalledConnection: listener => stalledConnections.inc({ listener }),
    openStreams: change => openStreams.inc(change),
    droppedStream: () => droppedStreams.inc(),
  };
}

function counterIn(registry: Registry) {
  return <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
}

/** Registers a gauge that is always 1. Its labels name the build. */
function registerBuild(registry: Registry): void {
  const { version, commit } = build();
  new Gauge({
    name: 'tollgate_build_info',
    help: '1 for the version and the commit that a process runs',
    labelNames: ['version', 'commit'],
    aggregator: 'max', // a parent and its workers
    registers: [registry],
  }).set({ version, commit: commit ?? 'unknown' }, 1);
}
