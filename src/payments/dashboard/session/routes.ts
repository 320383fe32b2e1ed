import type { Middleware } from 'koa';
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { authenticator } from '../../api/gate/authenticate.ts';
import type { RateLimits } from '../../api/gate/rate-limits.ts';
import type { Seals } from '../../secrets/sealed.ts';
import { apiForwarding } from './api-forwarding.ts';
import type { OneTimeToken } from './one-time-token.ts';
import { sessionOperations } from './operations.ts';
import { dashboardSessions } from './sessions.ts';

export interface DashboardOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly log: Logger;
  readonly publicUrl: string;
  readonly counts: RateLimits;
  readonly oneTimeToken: OneTimeToken | undefined;
  readonly validateResponses: boolean;
}

/**
 * Routes of the dashboard's session, and the forwarding to the API's operations, which must be registered after them.
 */
export async function dashboardRoutes(options: DashboardOptions): Promise<readonly Middleware[]> {
  const { db, seals, clock, log, publicUrl, counts } = options;
  const keys = authenticator({ db, clock, limits: counts, log });
  const sessions = dashboardSessions({ db, seals, clock, publicUrl, keys });
  return [
    await sessionOperations({ ...options, sessions }),
    apiForwarding({ sessions, publicUrl, counts, clock }),
  ];
}
