import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { RequestCounters } from '../../lib/request-counters.ts';
import type { LoggedRequests } from '../app/access-log.ts';
import type { Metrics } from '../metrics.ts';
import type { ConnectionBounds } from './connection-bounds.ts';
import type { DrainTimes } from './server.ts';

/** Settings of a listener for the public. */
export interface ListenerSettings {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly loggedRequests: LoggedRequests;
  readonly trustedProxies: readonly string[];
  /** Bounds of open connections; none when absent. */
  readonly connections?: ConnectionBounds | undefined;
  /** Where requests are counted for the limits; the memory of this process when absent. */
  readonly counters?: RequestCounters | undefined;
  /** Counters that the workers of this address share and no other process; memory of this process when absent. */
  readonly workerCounters?: RequestCounters | undefined;
  readonly drain?: DrainTimes | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}
