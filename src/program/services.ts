import { setTimeout as delay } from 'node:timers/promises';
import type { DataFront } from '#data/front.ts';
import type { IndexedChains } from '#data/indexed-chains.ts';
import type { IndexWriters } from '#data/running-indexes.ts';
import type { DataService } from '#data/service.ts';
import type { ReadinessCheck } from '#http/health.ts';
import type { Metrics } from '#http/metrics.ts';
import type { OperatorView } from '#http/server/admin-listener.ts';
import type { ConnectionBounds } from '#http/server/connection-bounds.ts';
import type { DrainTimes } from '#http/server/server.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import type { RequestCounters } from '#lib/request-counters.ts';
import { build } from '#lib/version.ts';
import type { PaymentsService } from '#payments/service.ts';
import type { Config, Role } from '../config/config.ts';
import type { EmbeddedDefault } from './embedded.ts';

/** Enough to read and answer a waiting request, and short compared with the loading of a module. */
const EARLY_MS = 5;

/** Dependencies that the process gives to all services. */
export interface Wiring extends ClockAndLog {
  readonly metrics: Metrics;
  readonly connections: ConnectionBounds;
  readonly counters: RequestCounters | undefined;
  readonly workerCounters: RequestCounters | undefined;
  readonly drain: DrainTimes;
  /** True once the process is about to stop. */
  readonly isLeaving: () => boolean;
}

/** Services of the process; undefined for those that run in other processes. */
export interface Services {
  readonly data: DataService | undefined;
  /** Writes the indexes in a process without the data service. */
  readonly indexer: IndexWriters | undefined;
  readonly payments: PaymentsService | undefined;
}

interface Opening {
  readonly config: Config;
  readonly embedded: EmbeddedDefault | undefined;
  readonly front: DataFront | undefined;
  readonly wiring: Wiring;
  /** Publishes the services to the operator. */
  readonly show: (view: OperatorView) => Promise<void>;
}

/** Opens the services of the configured roles and publishes them to the operator. They close in reverse order. */
export async function openServices(opening: Opening, resources: AsyncDisposableStack): Promise<Services> {
  const { config, front } = opening;
  const data = front && (await openData(opening, front));
  if (data !== undefined) await keepOpen(data, resources);
  const indexer =
    data === undefined && config.roles.includes('indexer') ? await openIndexer(opening) : undefined;
  if (indexer !== undefined) await keepOpen(indexer, resources);
  const indexes = config.roles.includes('settlement') ? await openIndexes(opening) : undefined;
  if (indexes !== undefined) await keepOpen(indexes, resources);
  const payments = config.roles.some(isOfPayments) ? await openPayments(opening, indexes) : undefined;
  if (payments !== undefined) await keepOpen(payments, resources);
  const services = { data, indexer, payments };
  await opening.show(operatorView(config, services));
  // Not awaited: the listeners drain concurrently.
  resources.defer(() => void front?.close());
  return services;
}

/** Checks and status of the services, for the operator. */
function operatorView({ roles }: Config, { data, indexer, payments }: Services): OperatorView {
  return {
    checks: checksByRole({
      ...(data && { data: data.checks }),
      ...(indexer && { indexer: indexer.checks }),
      ...payments?.checks,
    }),
    status: {
      process: async () => ({ ...build(), roles }),
      ...(data && { data: data.status }),
      ...(indexer && { indexer: indexer.status }),
      ...(payments && { payments: payments.status }),
    },
  };
}

function checksByRole(
  all: Partial<Record<Role, Readonly<Record<string, ReadinessCheck>>>>,
): Readonly<Record<string, ReadinessCheck>> {
  return Object.fromEntries(
    Object.entries(all).flatMap(([role, checks]) =>
      Object.entries(checks).map(([name, check]): [string, ReadinessCheck] => [`${role}: ${name}`, check]),
    ),
  );
}

function isOfPayments(role: Role): role is Exclude<Role, 'data' | 'indexer'> {
  return role !== 'data' && role !== 'indexer';
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

/** Lets the event loop answer early requests. Node loads all modules of an import without returning to it. */
async function answerEarly(): Promise<void> {
  await delay(EARLY_MS);
}

async function openIndexer({ config, wiring }: Opening): Promise<IndexWriters> {
  const { dataServiceOptions } = await import('#data/from-config.ts');
  const { startIndexWriters } = await import('#data/running-indexes.ts');
  return startIndexWriters({ ...dataServiceOptions(config, []), ...wiring });
}

/** The indexes of this installation, by which payments are proven. */
async function openIndexes({ config, embedded, wiring }: Opening): Promise<IndexedChains> {
  const { openIndexedChains } = await import('#data/indexed-chains.ts');
  return openIndexedChains([...config.chains, ...(embedded?.chains ?? [])], wiring);
}

async function openPayments(
  { config, embedded, front, wiring }: Opening,
  indexes: IndexedChains | undefined,
): Promise<PaymentsService> {
  const { paymentsServiceOptions } = await import('#payments/from-config.ts');
  const { startPaymentsService } = await import('#payments/service.ts');
  const dataUrl = front && (config.data.publicUrl ?? front.url);
  const options = paymentsServiceOptions(config, { embedded: embedded?.payments, dataUrl });
  const roles = config.roles.filter(isOfPayments);
  return startPaymentsService({ ...options, indexOf: indexes?.ofChain, roles, ...wiring });
}

interface Closable {
  close(): Promise<void>;
}

/**
 * Registers an open resource for closing. Closes it at once when the process is already stopping.
 * @throws Error when the process is stopping, so that nothing else is opened
 */
export async function keepOpen(opened: Closable, resources: AsyncDisposableStack): Promise<void> {
  if (!resources.disposed) {
    resources.defer(() => opened.close());
    return;
  }
  await opened.close();
  throw new Error('the process was stopped while it was starting');
}
