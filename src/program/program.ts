/** Composition root of the process: configuration → listener → chains → services → signal → disposal. */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArguments, USAGE } from '#config/arguments.ts';
import type { Config } from '#config/config.ts';
import { readEnvironment } from '#config/environment.ts';
import { reportFailure } from '#config/failure.ts';
import { loadConfig } from '#config/load.ts';
import { type DataFront, openDataFront } from '#data/front.ts';
import type { DataService } from '#data/service.ts';
import { embeddedChainIds } from '#devnet/embedded-chain.ts';
import { createAdminApp } from '#http/app/admin.ts';
import { uncountedPeers } from '#http/client-address.ts';
import { createMetrics, type Metrics } from '#http/metrics.ts';
import {
  boundedAs,
  boundOf,
  type ConnectionBounds,
  connectionBounds,
  descriptorLimit,
} from '#http/server/connection-bounds.ts';
import { listen } from '#http/server/server.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger, type Logger } from '#lib/logger.ts';
import { endProcess } from '#lib/process-end.ts';
import { atPlace } from '#lib/startup-error.ts';
import type { PaymentsListener } from '#payments/listener.ts';
import type { PaymentsService } from '#payments/service.ts';
import { type EmbeddedDefault, startEmbedded } from './embedded.ts';

const PROGRESS_EVERY_MS = 1_000;
const ADMIN_CONNECTIONS = 64;
const PARENT_EVERY_MS = 500;
/** Enough for a request that waits to be read, and little beside what is loaded. */
const EARLY_MS = 5;
/** Time that the process has to end by itself once everything is closed. */
const END_WITHIN_MS = 2_000;

async function main(): Promise<void> {
  const environment = readEnvironment();
  const argv = process.argv.slice(2);
  if (parseArguments(argv).help) {
    process.stdout.write(USAGE);
    return;
  }
  const config = loadConfig({ env: environment.variables, argv });
  const log = createLogger(config.log);
  await using resources = new AsyncDisposableStack();
  resources.defer(() => endProcess({ withinMs: END_WITHIN_MS, log }));
  const stopped = Promise.race([stopSignal(), ...(environment.isStartedByNpm ? [endOfParent()] : [])]);
  const metrics = createMetrics({ ofProcess: true });
  const wiring = { metrics, clock: systemClock, log, connections: boundsOf(config, metrics, log) };
  const starting = openEmbedded(config, environment.anvilBin, log);
  const started = starting?.catch(() => undefined); // a failure is thrown below, once the front listens
  resources.defer(async () => (await started)?.stop());
  const front = config.roles.includes('data') ? await openFront(config, wiring) : undefined;
  if (front !== undefined) resources.defer(() => front.close());
  const embedded = await starting;
  const services = await openServices({ config, embedded, front, wiring }, resources).catch(error => {
    throw atPlace(error, config.placeOf);
  });

  const ready = announce(services, embedded, log);
  const reason = await Promise.race([stopped, embedded?.failed ?? new Promise<never>(() => {}), ready]);
  if (reason instanceof Error) {
    process.exitCode = 1;
    log.fatal({ err: reason }, 'stopping');
  } else log.info({ signal: reason }, 'stopping');
}

function openEmbedded(
  config: Config,
  anvil: string | undefined,
  log: Logger,
): Promise<EmbeddedDefault> | undefined {
  const { devnet } = config;
  return devnet === undefined ? undefined : startEmbedded({ devnet, anvil, clock: systemClock, log });
}

/** What both services take from the process. */
interface Wiring {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connections: ConnectionBounds;
}

/** Listens for the data service before anything else is loaded (Decision 262). */
function openFront(config: Config, wiring: Wiring): Promise<DataFront> {
  const { listen: address, pages, rateLimitPerMinute } = config.data;
  const embeddedIds = config.devnet === undefined ? [] : embeddedChainIds(config.devnet.chains);
  return openDataFront({
    ...wiring,
    ...address,
    pages,
    chainIds: [...config.chains.map(({ id }) => id), ...embeddedIds],
    rateLimitPerMinute,
    loggedRequests: config.log.requests,
    trustedProxies: config.trustedProxies,
  });
}

interface Services {
  readonly data: DataService | undefined;
  /** True when the data service has pages to open. */
  readonly hasPages: boolean;
  readonly payments: PaymentsService | undefined;
}

interface Opening {
  readonly config: Config;
  readonly embedded: EmbeddedDefault | undefined;
  readonly front: DataFront | undefined;
  readonly wiring: Wiring;
}

/** Opens the services and the operator's listener; whatever was opened is closed in reverse order. */
async function openServices(opening: Opening, resources: AsyncDisposableStack): Promise<Services> {
  const { config, front, wiring } = opening;
  const { metrics, log } = wiring;
  const data = front && (await openData(opening, front));
  if (data !== undefined) resources.defer(() => data.close());
  const payments = config.roles.includes('payments') ? await openPayments(opening) : undefined;
  if (payments !== undefined) resources.defer(() => payments.close());
  const status = { ...(data && { data: data.status }), ...(payments && { payments: payments.status }) };
  const admin = await listen({
    app: createAdminApp({ metrics, log, status }),
    ...config.admin.listen,
    log,
    // Of its own, so that metrics can be read while the services are full.
    connections: boundedAs(
      'admin',
      connectionBounds({
        max: ADMIN_CONNECTIONS,
        maxPerAddress: ADMIN_CONNECTIONS,
        isExempt: () => true,
        clock: systemClock,
        metrics,
      }),
    ),
  });
  resources.defer(() => admin.close());
  return { data, hasPages: config.data.pages, payments };
}

async function openData({ config, embedded, wiring }: Opening, front: DataFront): Promise<DataService> {
  await answerEarly();
  const { dataServiceOptions } = await import('#data/from-config.ts');
  await answerEarly();
  const { startDataService } = await import('#data/service.ts');
  await answerEarly();
  const options = dataServiceOptions(config, embedded?.chains ?? []);
  return startDataService({ ...options, filled: embedded?.filled, front, ...wiring });
}

/** Lets early requests be answered: Node loads all modules of an import without a turn of the event loop. */
async function answerEarly(): Promise<void> {
  await delay(EARLY_MS);
}

async function openPayments({ config, embedded, front, wiring }: Opening): Promise<PaymentsService> {
  const { paymentsServiceOptions } = await import('#payments/from-config.ts');
  const { startPaymentsService } = await import('#payments/service.ts');
  const dataUrl = front && (config.data.publicUrl ?? front.url);
  const options = paymentsServiceOptions(config, { embedded: embedded?.payments, dataUrl });
  return startPaymentsService({ ...options, ...wiring });
}

function boundsOf({ server, trustedProxies }: Config, metrics: Metrics, log: Logger): ConnectionBounds {
  const max = boundOf(descriptorLimit(), server.maxConnections);
  if (server.maxConnections !== undefined && max < server.maxConnections) {
    log.warn(
      { maxConnections: max },
      'server.maxConnections is more than the files that this process may open allow',
    );
  }
  return connectionBounds({
    max,
    maxPerAddress: server.maxConnectionsPerAddress,
    isExempt: uncountedPeers(trustedProxies),
    clock: systemClock,
    metrics,
  });
}

/** Says how far the chains and their indexes are until they are ready. Resolves with an error, or never. */
async function announce(
  { data, hasPages, payments }: Services,
  embedded: EmbeddedDefault | undefined,
  log: Logger,
): Promise<Error> {
  const timer = setInterval(() => {
    const filling = embedded
      ?.progress()
      .map(({ chainId, done, total }) => `${chainId}: block ${done} of ${total}`);
    log.info({ filling, indexed: data?.progress() }, 'not ready yet');
  }, PROGRESS_EVERY_MS);
  try {
    await embedded?.filled;
    await data?.whenComplete();
    log.info(
      {
        ...(data && placeOf(data)),
        payments: payments?.api && { ...placeOf(payments.api), ...tryOut(payments.api) },
        nodes: embedded?.payments.chains.map(({ id, rpcUrl }) => ({ chainId: id, url: rpcUrl })),
      },
      data === undefined ? 'ready' : `ready: ${firstLook(data.url, hasPages)}`,
    );
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearInterval(timer);
  }
  return new Promise<never>(() => {});
}

/** What to do first with the data service. */
function firstLook(url: string, hasPages: boolean): string {
  return hasPages ? `open ${url}/` : `curl ${url}/explorer/transactions`;
}

function placeOf({ url }: { url: string }) {
  return { url, docs: `${url}/docs` };
}

/** A key and an address of the dashboard that are shown here and nowhere else, and what to do with the key. */
function tryOut({ url, demoKey: key, dashboardUrl: dashboard }: PaymentsListener) {
  if (key === undefined) return {};
  const body = '{"name":"Field notebooks","amount":"12500000"}';
  return {
    dashboard,
    key,
    create: `curl ${url}/api/v1/payment-links -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`,
  };
}

function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
}

/**
 * Resolves when the parent process is gone. npm hands a signal on to its shell alone, which ends without telling us:
 * the server would go on without anybody to stop it.
 */
function endOfParent(): Promise<string> {
  const parent = process.ppid;
  return new Promise(resolve => {
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      resolve('end of npm');
    }, PARENT_EVERY_MS);
    timer.unref();
  });
}

/** Runs the program until it is told to stop, and tells of what it cannot start with. */
export async function runProgram(): Promise<void> {
  try {
    await main();
  } catch (error) {
    reportFailure(error, 'npm start');
  }
}
