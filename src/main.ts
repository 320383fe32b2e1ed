/** Composition root of the process: configuration → chains → services → signal → disposal. */
import { parseArguments, USAGE } from './config/arguments.ts';
import type { Config } from './config/config.ts';
import { ConfigError } from './config/config-error.ts';
import { readEnvironment } from './config/environment.ts';
import { loadConfig } from './config/load.ts';
import { dataServiceOptions } from './data/from-config.ts';
import { type DataService, startDataService } from './data/service.ts';
import { type Embedded, startEmbedded } from './embedded.ts';
import { createAdminApp } from './http/admin.ts';
import { createMetrics } from './http/metrics.ts';
import { listen } from './http/server.ts';
import { systemClock } from './lib/clock.ts';
import { createLogger, type Logger } from './lib/logger.ts';

const PROGRESS_EVERY_MS = 1_000;

async function main(): Promise<void> {
  const environment = readEnvironment();
  const argv = process.argv.slice(2);
  if (parseArguments(argv).help) {
    process.stdout.write(USAGE);
    return;
  }
  const config = loadConfig({ env: environment.variables, argv });
  if (!config.services.includes('data')) {
    throw new ConfigError('the command line', [
      { path: '', line: undefined, message: 'this version serves the data service only' },
    ]);
  }
  const log = createLogger(config.log);
  await using resources = new AsyncDisposableStack();
  const stopped = stopSignal();
  const embedded = await openEmbedded(config, environment.anvilBin, log);
  if (embedded !== undefined) resources.defer(() => embedded.stop());
  const service = await openServices(config, embedded, log, resources);

  const ready = announce(service, embedded, log);
  const reason = await Promise.race([stopped, embedded?.failed ?? new Promise<never>(() => {}), ready]);
  if (reason instanceof Error) {
    process.exitCode = 1;
    log.fatal({ err: reason }, 'stopping');
  } else log.info({ signal: reason }, 'stopping');
}

function openEmbedded(config: Config, anvil: string | undefined, log: Logger): Promise<Embedded> | undefined {
  const { devnet } = config;
  return devnet === undefined ? undefined : startEmbedded({ devnet, anvil, clock: systemClock, log });
}

/** Opens everything that listens; whatever was opened is closed in reverse order. */
async function openServices(
  config: Config,
  embedded: Embedded | undefined,
  log: Logger,
  resources: AsyncDisposableStack,
): Promise<DataService> {
  const metrics = createMetrics({ ofProcess: true });
  const options = dataServiceOptions(config, embedded?.chains ?? []);
  const service = await startDataService({ ...options, metrics, clock: systemClock, log });
  resources.defer(() => service.close());
  const { host, port } = config.admin.listen;
  const admin = await listen({ app: createAdminApp({ metrics, log }), host, port, log });
  resources.defer(() => admin.close());
  return service;
}

/** Says how far the chains and their indexes are until they are ready. Resolves with an error, or never. */
async function announce(service: DataService, embedded: Embedded | undefined, log: Logger): Promise<Error> {
  const timer = setInterval(() => {
    const filling = embedded
      ?.progress()
      .map(({ chainId, done, total }) => `${chainId}: block ${done} of ${total}`);
    log.info({ filling, indexed: service.progress() }, 'not ready yet');
  }, PROGRESS_EVERY_MS);
  try {
    if (embedded !== undefined) {
      await embedded.filled;
      await service.catchUp();
    }
    await service.whenComplete();
    log.info(
      { url: service.url, docs: `${service.url}/docs` },
      `ready: curl ${service.url}/explorer/transactions`,
    );
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  } finally {
    clearInterval(timer);
  }
  return new Promise<never>(() => {});
}

function stopSignal(): Promise<string> {
  return new Promise(resolve => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(signal));
  });
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}
