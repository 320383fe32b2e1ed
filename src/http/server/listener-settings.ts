import type { Clock } from '../../lib/clock.ts';
import type { Logger } from '../../lib/logger.ts';
import type { RequestCounters } from '../../lib/request-counters.ts';
import type { LoggedRequests } from '../app/access-log.ts';
import type { Metrics } from '../metrics.ts';
import type { ConnectionBounds } from './connection-bounds.ts';
import type { DrainTimes } from './server.ts';

/** Settings of a public listener. */
export interface ListenerSettings {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  readonly loggedRequests: LoggedRequests;
  readonly trustedProxies: readonly string[];
  /** Limits of open connections; none when absent. */
  readonly connections?: ConnectionBounds | undefined;
  /** Counters for rate limits; in memory of this process when absent. */
  readonly counters?: RequestCounters | undefined;
  /** Counters shared only by the workers of this address; in memory of this process when absent. */
  readonly workerCounters?: RequestCounters | undefined;
  readonly drain?: DrainTimes | undefined;
  /** True once the process is about to stop; never when absent. */
  readonly isLeaving?: (() => boolean) | undefined;
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Logger;
}
