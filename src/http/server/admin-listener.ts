import type { ClockAndLog } from '../../lib/logger.ts';
import { createAdminApp, type StatusReader } from '../app/admin.ts';
import type { ReadinessCheck } from '../health.ts';
import type { Metrics } from '../metrics.ts';
import { boundedAs, connectionBounds } from './connection-bounds.ts';
import { listen, type RunningServer } from './server.ts';

const ADMIN_CONNECTIONS = 64;

/** Data that a process shows to the operator. */
export interface OperatorView {
  /** Readiness by role and name. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** State by service. */
  readonly status: Readonly<Record<string, StatusReader>>;
}

interface AdminListenerDeps extends ClockAndLog {
  readonly view: OperatorView;
  /** True once the process is about to stop; never when absent. */
  readonly isLeaving?: (() => boolean) | undefined;
  /** Metrics of this process. */
  readonly metrics: Metrics;
  /** Metrics returned by a scrape; those of this process when absent. */
  readonly scraped?: Pick<Metrics['registry'], 'metrics' | 'contentType'>;
}

interface AdminAddress {
  readonly listen: { readonly host: string; readonly port: number };
  /** See `createAdminApp`. */
  readonly hosts?: readonly string[];
}

/** Opens the operator's listener. Rejects when the address is not available. */
export function openAdminListener(
  { listen: address, hosts = [] }: AdminAddress,
  { view: { checks, status }, isLeaving, metrics, scraped = metrics.registry, clock, log }: AdminListenerDeps,
): Promise<RunningServer> {
  return listen({
    app: createAdminApp({
      metrics: { registry: scraped },
      log,
      checks: () => checks,
      isLeaving,
      status,
      hosts,
    }),
    ...address,
    log,
    clock,
    // Separate limits, so that metrics can be read while the services are full.
    connections: boundedAs(
      'admin',
      connectionBounds({
        max: ADMIN_CONNECTIONS,
        maxPerAddress: ADMIN_CONNECTIONS,
        isExempt: () => true,
        clock,
        metrics,
      }),
    ),
  });
}
