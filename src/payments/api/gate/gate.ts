import { paymentsError } from '#contract/contracts/payments-errors.ts';
import { decodeSegment } from '#contract/mount/parameters.ts';
import type { Gate, IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import { pathOf } from '#http/app/request-target.ts';
import { isId } from '#lib/ids.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import type { RequestCount } from '#lib/request-counters.ts';
import { included, PERMISSIONS } from '../../keys/api-key.ts';
import type { Actor } from '../../model/owner.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { AnonymousCaller, ApiCaller } from './api-context.ts';
import { authenticator, type Credential } from './authenticate.ts';
import { idempotency } from './idempotency.ts';
import { commitAround } from './keyed-commits.ts';
import { countCaller, countHeaders, type RateLimits, tooMany } from './rate-limits.ts';
import { type AuditTrail, recorded } from './recorded-commits.ts';

export interface PaymentsGateOptions extends ClockAndLog {
  readonly db: Db;
  readonly seals: Seals;
  readonly counts: RateLimits;
  readonly trail: AuditTrail;
}

/** Payer operations that submit a signature, a claim or a report. They are also counted by session (Decision 105). */
const PROOFS = ['bindWallet', 'claimPayment', 'reportPayment', 'stateRefundAddress', 'mailRefundLink'];
/** Payer operation that every open page polls. It has limits of its own (Decision 129). */
const STATE = 'getCheckoutState';

/** Gate of the payments API: authentication, limits, permissions and idempotency (Decisions 100 and 104 to 106). */
export function paymentsGate({
  db,
  seals,
  clock,
  counts,
  trail,
  log,
}: PaymentsGateOptions): Gate<ApiCaller, AnonymousCaller> {
  const { ofRequest } = authenticator({ db, clock, limits: counts, log });

  return {
    async authenticate(request) {
      const credential = await ofRequest(request);
      const { id, kind, organizationId } = credential;
      request.identify(kind === 'member' ? { memberId: id, organizationId } : { keyId: id, organizationId });
      return apiCaller({ db, trail }, credential, request);
    },

    async visit(request) {
      const { client, headers, hungUp } = request;
      // The payer's operations do not exist in the dashboard.
      if (isOfDashboard(request)) throw paymentsError('resource_not_found', 'Not found');
      return { client, origin: headers.origin, ifNoneMatch: headers['if-none-match'], hungUp };
    },

    async admit(caller, request) {
      const counted = 'actor' in caller ? [await countCaller(counts, caller)] : await ofVisitor(request);
      const tightest = counted.sort(mostRestrictiveFirst)[0];
      if (tightest === undefined) return {};
      if (tightest.isRefused) throw tooMany(tightest, clock.now());
      return countHeaders(tightest, clock.now());
    },

    permit({ kind, permission }, roles) {
      const [wanted] = PERMISSIONS.filter(one => roles.includes(one));
      // An operation with security but without a permission is a mistake of ours. It must not be open to every key.
      if (wanted === undefined || roles.length !== 1) throw new Error(`no such permission: ${roles.join()}`);
      if (included(permission).includes(wanted)) return;
      const holder = kind === 'member' ? 'Your role' : 'This API key';
      throw paymentsError('insufficient_permissions', `${holder} does not have '${wanted}' permission.`);
    },

    replay: idempotency({ db, seals, clock, log }),
  };

  /**
   * Counts by address first. Only requests admitted by address count by session, so that one client cannot keep using
   * up a session's limit.
   */
  async function ofVisitor(request: IncomingRequest): Promise<RequestCount[]> {
    const { client, operation } = request;
    const sessionId = sessionOf(request);
    const isState = operation.id === STATE && sessionId !== undefined;
    const byAddress = await (isState ? counts.countStateReader(client) : counts.countPayer(client));
    if (byAddress?.isRefused === true) return [byAddress];
    const ofSession = isState
      ? counts.countState
      : PROOFS.includes(operation.id)
        ? counts.countSession
        : undefined;
    const bySession = sessionId === undefined ? undefined : await ofSession?.(sessionId);
    return [byAddress, bySession].filter(count => count !== undefined);
  }
}

/** Caller of the API with a credential. */
export function apiCaller(
  { db, trail }: Pick<PaymentsGateOptions, 'db' | 'trail'>,
  credential: Credential,
  request: IncomingRequest,
): ApiCaller {
  const actor: Actor = `${credential.kind}:${credential.id}`;
  const recordChange = trail({ ...credential, actor }, request);
  const commits: Pick<ApiCaller, 'commit' | 'commitAround'> = {
    commit: work => transaction(db, work),
    commitAround: effect => commitAround(db, effect),
  };
  return {
    ...credential,
    actor,
    ifMatch: request.headers['if-match'],
    recordChange,
    ...recorded(commits, recordChange),
  };
}

/** True for a request with a session of the dashboard in place of a key. */
function isOfDashboard({ state }: IncomingRequest): boolean {
  return state.authenticate !== undefined;
}

/** Orders refused counts first, then those with the fewest requests left, then those with the longest wait. */
function mostRestrictiveFirst(a: RequestCount, b: RequestCount): number {
  return Number(b.isRefused) - Number(a.isRefused) || a.remaining - b.remaining || b.msLeft - a.msLeft;
}

/** The session in a request's path; undefined without a well-formed id. */
function sessionOf({ operation, target }: IncomingRequest): string | undefined {
  const index = operation.path.split('/').indexOf('{checkout_session_id}');
  // Decoded, because escapes would give the same session several names.
  const id = decodeSegment(pathOf(target).split('/')[index] ?? '');
  return isId('cs', id) ? id : undefined;
}
