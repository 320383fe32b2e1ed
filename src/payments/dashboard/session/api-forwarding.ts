import type { Middleware } from 'koa';
import { checkChange } from './change-guard.ts';
import type { DashboardSessions } from './sessions.ts';

/** What stands before a path of the API. */
const PREFIX = '/dashboard';
const API = `${PREFIX}/api/v1/`;

/**
 * Leads `/dashboard/api/v1/…` to the operations of `/api/v1/…`, which come behind it, and has their gate authenticate by the
 * session of the request (Decision 246). The access log keeps the path as it was sent.
 */
export function apiForwarding(sessions: DashboardSessions, publicUrl: string): Middleware {
  return (ctx, next) => {
    if (!ctx.url.startsWith(API)) return next();
    ctx.url = ctx.url.slice(PREFIX.length);
    ctx.state.authenticate = async () => {
      const { method, headers, state } = ctx;
      const request = { method, headers, client: state.client };
      const { token, credential } = await sessions.ofRequest(request);
      checkChange(request, { token, publicUrl });
      return credential;
    };
    return next();
  };
}
