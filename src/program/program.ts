/** Composition root of the process: configuration → listener → chains → services → signal → disposal. */
import { setFlagsFromString } from 'node:v8';
import { parseArguments, USAGE } from '#config/arguments.ts';
import { type Environment, readEnvironment, type WorkerPart } from '#config/environment.ts';
import { reportFailure } from '#config/failure.ts';
import { loadConfig } from '#config/load.ts';
import type { DataFront } from '#data/front.ts';
import { embeddedChainIds } from '#devnet/embedded-chain.ts';
import { uncountedPeers } from '#http/client-address.ts';
import { createMetrics, type Metrics } from '#http/metrics.ts';
import {
  boundOf,
  type ConnectionBounds,
  connectionBounds,
  descriptorLimit,
} from '#http/server/connection-bounds.ts';
import { probeAddress } from '#http/server/server.ts';
import { systemClock } from '#lib/clock.ts';
import { inTime } from '#lib/in-time.ts';
import { createLogger, type Logger } from '#lib/logger.ts';
import { CannotStart, withLocation } from '#lib/startup-error.ts';
import { build } from '#lib/version.ts';
import { type Config, listenersOf } from '../config/config.ts';
import { type EmbeddedDefault, startEmbedded } from './embedded.ts';
import { endProcess, exitProcess, stopRequest } from './ending.ts';
import { type Operator, operatorOf, workerParts } from './operator.ts';
import { announceReadiness } from './readiness-log.ts';
import { keepOpen, openServices, type Services, type Wiring } from './services.ts';
import { leaveParent } from './workers/parent-channel.ts';

/** Time for a client that just received an answer to send its next request on the same connection. */
const LINGER_MS = 1_000;
/** Time for the process to exit by itself once everything is closed. */
const END_WITHIN_MS = 2_000;
/** Time to close everything after the drain: an attempt to deliver a webhook takes up to 30 seconds. */
const CLOSE_WITHIN_MS = 33_000;
/** Time for an opening that is under way when the process stops. A locked or silent database may take minutes. */
const ABANDON_AFTER_MS = 1_000;
/** The same with embedded chains. Longer, because everything must be closed before their folder is removed. */
const ABANDON_EMBEDDED_AFTER_MS = 10_000;

async function main(argv: readonly string[]): Promise<void> {
  const environment = readEnvironment();
  if (parseArguments(argv).help) {
    process.stdout.write(USAGE);
    return;
  }
  const config = loadConfig({ env: environment.variables, argv });
  const { worker } = environment;
  const parts = worker === undefined ? workerParts(config) : [];
  const log = loggerOf(config, { worker, sharesOutput: worker !== undefined || parts.length > 0 });
  await using resources = new AsyncDisposableStack();
  log.info({ ...build(), node: process.version, roles: config.roles }, 'starting');
  let isAbandoning = false;
  resources.defer(() => (isAbandoning ? exitProcess() : endProcess({ withinMs: END_WITHIN_MS, log })));
  if (worker === undefined) await requireFreeAddresses(config);
  const stopped = stopRequest({ parent: watchedParent(environment) });
  if (parts.length > 0) {
    const { runParent } = await import('./workers/parent.ts');
    return await runParent({ config, parts, stopped, clock: systemClock, log });
  }
  const metrics = createMetrics({ ofProcess: true });
  const observers = { metrics, clock: systemClock, log };
  let isLeaving = false;
  const leaving = { isLeaving: () => isLeaving };
  const operator = await operatorOf(config, { worker, observers, leaving, resources });
  void operator.left.then(() => {
    isLeaving = true;
  });
  const opening = open({ config, environment, observers, operator, leaving }, resources);
  let isOpen = false;
  const ending = new AbortController();
  const failed = opening.then(opened => {
    isOpen = true;
    return failureAfterStart(opened, { config, operator, log, signal: ending.signal });
  });
  const reason = await Promise.race([stopped, operator.stopped, failed]);
  ending.abort();
  if (reason instanceof Error) {
    process.exitCode = 1;
    log.fatal({ err: reason }, 'stopping');
  } else {
    if (isOpen && reason === 'SIGTERM') {
      isLeaving = true;
      await lameDuck(config, log);
    }
    log.info({ signal: reason }, 'stopping');
  }
  const opened = opening.then(
    () => undefined,
    () => undefined, // a failed start no longer matters
  );
  const abandonAfterMs = config.devnet === undefined ? ABANDON_AFTER_MS : ABANDON_EMBEDDED_AFTER_MS;
  isAbandoning = await inTime(opened, abandonAfterMs).then(
    () => false,
    () => true,
  );
  // A database that falls silent can hold up each step of closing for a minute.
  endProcess({ withinMs: config.server.drainMs + CLOSE_WITHIN_MS, log });
}

/** Refuses a start whose addresses are taken, before anything else is opened: embedded chains take seconds. */
async function requireFreeAddresses(config: Config): Promise<void> {
  for (const [setting, address] of listenersOf(config)) {
    await probeAddress(address).catch(error => {
      const failure = new CannotStart(`It cannot listen on ${address.host}:${address.port}`, error, setting);
      throw withLocation(failure, config.locationOf);
    });
  }
}

/** Process whose end ends this one: npm or the launcher. A worker instead receives a message from its parent. */
function watchedParent({ worker, launcherPid, isStartedByNpm }: Environment): number | undefined {
  if (worker !== undefined) return undefined;
  return launcherPid ?? (isStartedByNpm ? process.ppid : undefined);
}

/** Announces that the process is ready. Resolves with the first failure afterwards, or never. */
function failureAfterStart(
  opened: Opened,
  { config, operator, ...rest }: { config: Config; operator: Operator; log: Logger; signal: AbortSignal },
): Promise<Error> {
  const ready = announceReadiness({ ...opened, hasPages: config.data.pages, tell: operator.tell, ...rest });
  return Promise.race([ready, ...(opened.embedded === undefined ? [] : [opened.embedded.failed])]);
}

/** Waits until load balancers have seen that the process is not ready. Only SIGTERM comes from a service manager. */
async function lameDuck({ server: { lameDuckMs } }: Config, log: Logger): Promise<void> {
  if (lameDuckMs === 0) return;
  log.info({ lameDuckMs }, 'no longer ready, and stopping soon');
  await systemClock.sleep(lameDuckMs);
}

interface Opened extends Services {
  readonly embedded: EmbeddedDefault | undefined;
}

interface Opening {
  readonly config: Config;
  readonly environment: Environment;
  readonly observers: Pick<Wiring, 'metrics' | 'clock' | 'log'>;
  readonly operator: Operator;
  readonly leaving: Pick<Wiring, 'isLeaving'>;
}

/** Opens everything that this process runs, the listener first. */
async function open(
  { config, environment, observers, operator, leaving }: Opening,
  resources: AsyncDisposableStack,
): Promise<Opened> {
  const { metrics, log } = observers;
  const limits = await openLimits(config, observers);
  if (limits !== undefined) await keepOpen(limits, resources);
  const workers = environment.worker === undefined ? 1 : config.workers;
  const wiring = {
    ...observers,
    ...leaving,
    counters: limits?.counters,
    workerCounters: operator.counters,
    drain: { withinMs: config.server.drainMs, lingerMs: LINGER_MS },
    connections: boundsOf(config, { metrics, log, workers }),
  };
  const starting = openEmbedded(config, environment.anvilBin, log);
  const started = starting?.catch(() => undefined); // a failure is thrown below, once the front listens
  resources.defer(async () => (await started)?.stop());
  const front = config.roles.includes('data') ? await openFront(config, wiring) : undefined;
  if (front !== undefined) await keepOpen(front, resources);
  const embedded = await starting;
  const { show } = operator;
  const services = await openServices({ config, embedded, front, wiring, show }, resources).catch(error => {
    throw withLocation(error, config.locationOf);
  });
  return { ...services, embedded };
}

/** Logger of this process. Each line of a worker has the worker's name. */
function loggerOf(
  { log }: Config,
  { worker, sharesOutput }: { worker: WorkerPart | undefined; sharesOutput: boolean },
): Logger {
  const logger = createLogger({ ...log, sharesOutput });
  return worker === undefined ? logger : logger.child({ worker: worker.name });
}

function openEmbedded(
  config: Config,
  anvil: string | undefined,
  log: Logger,
): Promise<EmbeddedDefault> | undefined {
  const { devnet } = config;
  return devnet === undefined ? undefined : startEmbedded({ devnet, anvil, clock: systemClock, log });
}

/**
 * Opens the store in which all processes count requests. Loads no module for it when no store is configured or no
 * service listens.
 */
async function openLimits(
  { rateLimitStore, roles, locationOf }: Config,
  observers: Pick<Wiring, 'metrics' | 'clock' | 'log'>,
) {
  const isListening = roles.includes('data') || roles.includes('payments');
  if (rateLimitStore === undefined || !isListening) return undefined;
  const { openRateLimitStore } = await import('#stores/rate-limit-store.ts');
  return openRateLimitStore(rateLimitStore, observers).catch(error => {
    throw withLocation(error, locationOf);
  });
}

/** Listens for the data service before anything else is loaded (Decision 262). */
async function openFront(config: Config, wiring: Wiring): Promise<DataFront> {
  const { openDataFront } = await import('#data/front.ts');
  const { chains, data, devnet, log, trustedProxies } = config;
  const { listen: address, pages, rateLimitPerMinute, pageRateLimitPerMinute, requestsPerQuerySecond } = data;
  const limits = { rateLimitPerMinute, pageRateLimitPerMinute, requestsPerQuerySecond };
  const embeddedIds = devnet === undefined ? [] : embeddedChainIds(devnet.chains);
  return openDataFront(
    { ...wiring, ...address, ...limits, pages, loggedRequests: log.requests, trustedProxies },
    [...chains.map(({ id }) => id), ...embeddedIds],
  );
}

/** Connection bounds of this process. Each worker gets an equal part of the configured bounds. */
function boundsOf(
  { server, trustedProxies }: Config,
  { metrics, log, workers }: { metrics: Metrics; log: Logger; workers: number },
): ConnectionBounds {
  const max = boundOf(descriptorLimit(), server.maxConnections, workers);
  if (server.maxConnections !== undefined && max < Math.ceil(server.maxConnections / workers)) {
    log.warn(
      { maxConnections: max },
      'server.maxConnections is higher than the limit of open files of this process allows',
    );
  }
  return connectionBounds({
    max,
    maxPerAddress: Math.ceil(server.maxConnectionsPerAddress / workers),
    isExempt: uncountedPeers(trustedProxies),
    clock: systemClock,
    metrics,
  });
}

/** Growth of the heap since the last collection, in percent, at which V8 collects again. */
const HEAP_GROWTH = 20;

/** Runs the program until it is stopped, and reports a failed start. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // V8 would otherwise keep garbage of several times what is in use, because a server has gigabytes to spare.
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH}`);
  try {
    await main(argv);
  } catch (error) {
    reportFailure(error, 'tollgate start');
  } finally {
    leaveParent();
  }
}
