/** Composition root of the process: configuration → chains → services → signal → disposal. */
import { parseArguments, USAGE } from './config/arguments.ts';
import type { Config } from './config/config.ts';
import { ConfigError } from './config/config-error.ts';
import { readEnvironment } from './config/environment.ts';
import { loadConfig } from './config/load.ts';
import { dataServiceOptions } from './data/from-config.ts';
import { type DataService, startDataService } from './data/service.ts';
import { type EmbeddedDefault, startEmbedded } from './embedded.ts';
import { createAdminApp } from './http/app/admin.ts';
import { uncountedPeers } from './http/client-address.ts';
import { createMetrics, type Metrics } from './http/metrics.ts';
import {
  boundedAs,
  boundOf,
  type ConnectionBounds,
  connectionBounds,
  descriptorLimit,
} from './http/server/connection-bounds.ts';
import { listen } from './http/server/server.ts';
import { systemClock } from './lib/clock.ts';
import { createLogger, type Logger } from './lib/logger.ts';
import { endProcess } from './lib/process-end.ts';
import { atPlace, CannotStart, startFailure } from './lib/startup-error.ts';
import { paymentsServiceOptions } from './payments/from-config.ts';
import { type PaymentsService, startPaymentsService } from './payments/service.ts';

const PROGRESS_EVERY_MS = 1_000;
const ADMIN_CONNECTIONS = 64;
const PARENT_EVERY_MS = 500;
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
  const embedded = await openEmbedded(config, environment.anvilBin, log);
  if (embedded !== undefined) resources.defer(() => embedded.stop());
  const services = await openServices(config, embedded, log, resources).catch(error => {
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

interface Services {
  readonly data: DataService | undefined;
  /** True when the data service has pages to open. */
  readonly hasPages: boolean;
  readonly payments: PaymentsService | undefined;
}

/** Opens everything that listens; whatever was opened is closed in reverse order. */
async function openServices(
  config: Config,
  embedded: EmbeddedDefault | undefined,
  log: Logger,
  resources: AsyncDisposableStack,
): Promise<Services> {
  const metrics = createMetrics({ ofProcess: true });
  const connections = boundsOf(config, metrics, log);
  const wiring = { metrics, clock: systemClock, log, connections };
  const { services } = config;
  const data = services.includes('data')
    ? await startDataService({
        ...dataServiceOptions(config, embedded?.chains ?? []),
        filled: embedded?.filled,
        ...wiring,
      })
    : undefined;
  if (data !== undefined) resources.defer(() => data.close());
  const dataUrl = data && (config.data.publicUrl ?? data.url);
  const payments = services.includes('payments')
    ? await startPaymentsService({
        ...paymentsServiceOptions(config, { embedded: embedded?.payments, dataUrl }),
        ...wiring,
      })
    : undefined;
  if (payments !== undefined) resources.defer(() => payments.close());
  const { host, port } = config.admin.listen;
  const status = { ...(data && { data: data.status }), ...(payments && { payments: payments.status }) };
  const admin = await listen({
    app: createAdminApp({ metrics, log, status }),
    host,
    port,
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
        payments: payments && { ...placeOf(payments), ...tryOut(payments) },
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
function tryOut({ url, demoKey: key, dashboardUrl: dashboard }: PaymentsService) {
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

try {
  await main();
} catch (error) {
  const isConfig =
    error instanceof ConfigError || (error instanceof CannotStart && error.setting !== undefined);
  const failure = isConfig ? error.message : startFailure(error);
  if (failure === undefined) throw error;
  process.stderr.write(`${failure}\n`);
  process.exitCode = isConfig ? 2 : 1;
}
