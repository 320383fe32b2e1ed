import type { Middleware } from 'koa';
import type { Clock } from '#lib/clock.ts';
import { keyAdmission, type RateLimits } from '../../api/gate/rate-limits.ts';
import { checkChange } from './change-guard.ts';
import type { DashboardSessions } from './sessions.ts';

/** Path prefix of the dashboard's copy of the API. */
const PREFIX = '/dashboard';
const API = `${PREFIX}/api/v1/`;

interface ForwardingOptions {
  readonly sessions: DashboardSessions;
  readonly publicUrl: string;
  readonly counts: RateLimits;
  readonly clock: Clock;
}

/**
 * Forwards `/dashboard/api/v1/…` to the operations of `/api/v1/…`, which must be registered after it. Their gate
 * authenticates by the request's session (Decision 246). The access log keeps the original path. Browsers store no
 * answer (Decision 279).
 */
export function apiForwarding({ sessions, publicUrl, counts, clock }: ForwardingOptions): Middleware {
  const counted = keyAdmission(counts, clock);
  return async (ctx, next) => {
    if (!ctx.url.startsWith(API)) return next();
    ctx.url = ctx.url.slice(PREFIX.length);
    ctx.state.authenticate = async () => {
      const { method, headers, state } = ctx;
      const request = { method, headers, client: state.client };
      const { token, credential } = await sessions.ofRequest(request);
      try {
        checkChange(request, { token, publicUrl });
      } catch (refusal) {
        await counted(credential); // the gate counts all other requests, but never sees this one
        throw refusal;
      }
      return credential;
    };
    await next();
    ctx.set('Cache-Control', 'no-store');
  };
}
