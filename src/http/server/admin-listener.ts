import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import { createAdminApp, type StatusReader } from '../app/admin.ts';
import type { Check } from '../health.ts';
import type { Metrics } from '../metrics.ts';
import { boundedAs, connectionBounds } from './connection-bounds.ts';
import { listen, type RunningServer } from './server.ts';

const ADMIN_CONNECTIONS = 64;

/** What a process shows the operator. */
export interface OperatorView {
  /** Readiness by role and name. */
  readonly checks: Readonly<Record<string, Check>>;
  /** State by service. */
  readonly status: Readonly<Record<string, StatusReader>>;
}

interface AdminListenerDeps {
  readonly view: OperatorView;
  /** Metrics of this process. */
  readonly metrics: Metrics;
  /** What is written at a scrape; the metrics of this process when absent. */
  readonly scraped?: Pick<Metrics['registry'], 'metrics' | 'contentType'>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Listens for the operator. Rejects when the address cannot be had. */
export function openAdminListener(
  address: { readonly host: string; readonly port: number },
  { view: { checks, status }, metrics, scraped = metrics.registry, clock, log }: AdminListenerDeps,
): Promise<RunningServer> {
  return listen({
    app: createAdminApp({ metrics: { registry: scraped }, log, checks: () => checks, status }),
    ...address,
    log,
    // Of its own, so that metrics can be read while the services are full.
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
