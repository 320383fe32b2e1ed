import type { Middleware } from 'koa';
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import { authenticator } from '#payments/api/gate/authenticate.ts';
import { callerAdmission, type RateLimits } from '#payments/api/gate/rate-limits.ts';
import type { AuditTrail } from '#payments/api/gate/recorded-commits.ts';
import type { PaymentChains } from '#payments/model/payment-chain.ts';
import type { Seals } from '#payments/secrets/sealed.ts';
import { checkChange } from './csrf.ts';
import { checkNamedSession, takeNamedSession } from './named-session.ts';
import { type SignInOperationsOptions, signInOperations } from './operations.ts';
import { passkeys } from './passkeys.ts';
import { type DashboardSignIns, dashboardSignIns } from './sign-ins.ts';

export interface DashboardOptions extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  readonly publicUrl: string;
  readonly counts: RateLimits;
  readonly chains: Pick<PaymentChains, 'all'>;
  readonly hasMailServer: boolean;
  readonly validateResponses: boolean;
  readonly trail: AuditTrail;
  readonly readOverview: SignInOperationsOptions['readOverview'];
}

/**
 * Routes of the dashboard's sign-in, and the forwarding to the API's operations, which must be registered after them.
 */
export async function dashboardRoutes(options: DashboardOptions): Promise<readonly Middleware[]> {
  const { db, seals, clock, log, publicUrl, chains, counts } = options;
  const keys = authenticator({ db, clock, limits: counts, log });
  const passkeyChecks = passkeys({ seals, clock, publicUrl });
  const signIns = dashboardSignIns({ db, seals, clock, publicUrl, chains, keys, passkeys: passkeyChecks });
  return [
    await signInOperations({ ...options, signIns, passkeys: passkeyChecks }),
    apiForwarding({ signIns, publicUrl, counts, clock }),
  ];
}

/** Path prefix of the dashboard's copy of the API. */
const PREFIX = '/dashboard';
const API = `${PREFIX}/api/v1/`;

interface ForwardingOptions {
  readonly signIns: DashboardSignIns;
  readonly publicUrl: string;
  readonly counts: RateLimits;
  readonly clock: Clock;
}

/**
 * Forwards `/dashboard/api/v1/…` to the operations of `/api/v1/…`, which must be registered after it. Their gate
 * authenticates by the request's sign-in (Decision 246). The access log keeps the original path. Browsers store no
 * answer (Decision 279).
 */
function apiForwarding({ signIns, publicUrl, counts, clock }: ForwardingOptions): Middleware {
  const counted = callerAdmission(counts, clock);
  return async (ctx, next) => {
    if (!ctx.url.startsWith(API)) return next();
    const { target, named } = takeNamedSession(ctx.url.slice(PREFIX.length));
    ctx.url = target;
    ctx.state.authenticate = async () => {
      const { method, headers, state } = ctx;
      const request = { method, headers, client: state.client };
      const { token, credential } = await signIns.ofRequest(request);
      try {
        checkNamedSession(request, credential, named);
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
