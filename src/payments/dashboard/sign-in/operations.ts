import type { Middleware } from 'koa';
import {
  type DashboardHandlers,
  type DashboardOperations,
  type DashboardPublicOperation,
  type DashboardSchemas,
  dashboardContract,
} from '#contract/contracts/payments.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import { mountGated } from '#contract/mount/mount.ts';
import type { Gate, IncomingRequest } from '#contract/mount/request-gate.ts';
import { type Clock, timestamp } from '#lib/clock.ts';
import { qrDrawing } from '#pages/qr.ts';
import { countHeaders, keyAdmission, type RateLimits, tooMany } from '../../api/gate/rate-limits.ts';
import { included } from '../../keys/api-key.ts';
import { checkChange, checkOrigin, csrfTokenOf } from './csrf.ts';
import type { OneTimeToken } from './one-time-token.ts';
import type { DashboardSignIns, SignIn } from './sign-ins.ts';

export interface SignInOperationsOptions {
  readonly signIns: DashboardSignIns;
  readonly counts: RateLimits;
  readonly clock: Clock;
  readonly publicUrl: string;
  /** Replaces an API key for one sign-in; undefined if there is none. */
  readonly oneTimeToken: OneTimeToken | undefined;
  readonly validateResponses: boolean;
}

interface KnownCaller {
  readonly signIn: SignIn;
  readonly request: IncomingRequest;
}

interface Visitor {
  readonly request: IncomingRequest;
}

/** The answer holds a token, so browsers must not store it. */
const NOT_KEPT = { 'Cache-Control': 'no-store' };

/** Serves signing in and out of the dashboard, and the QR codes of its pages. */
export function signInOperations(options: SignInOperationsOptions): Promise<Middleware> {
  return mountGated<DashboardOperations, DashboardPublicOperation, KnownCaller, Visitor>({
    contract: dashboardContract,
    gate: signInGate(options),
    handlers: signInHandlers(options),
    validateResponses: options.validateResponses,
  });
}

function signInGate(options: SignInOperationsOptions): Gate<KnownCaller, Visitor> {
  const { signIns, publicUrl } = options;
  const counted = keyAdmission(options.counts, options.clock);
  const countedVisitor = countedAddress(options);
  return {
    async authenticate(request) {
      const signIn = await signIns.ofRequest(request);
      const { id: keyId, organizationId } = signIn.credential.key;
      request.identify({ keyId, organizationId });
      return { signIn, request };
    },
    async visit(request) {
      checkOrigin(request, publicUrl);
      return { request };
    },
    async admit(caller) {
      if ('signIn' in caller) return counted(caller.signIn.credential);
      const headers = await countedVisitor(caller.request);
      refuseLongBody(caller.request);
      return headers;
    },
    // A key of any permission may sign in and out, so only the CSRF token is checked. The request is counted first,
    // which limits guessing.
    permit: ({ signIn, request }) => checkChange(request, { token: signIn.token, publicUrl }),
    replay: (caller, _, proceed) => proceed(caller),
  };
}

/** Longest body without a sign-in: a key, with room for any encoding. */
const MAX_VISITOR_BYTES = 4_096;

/** Refuses a body before it is read. @throws InvalidBody when its length is unknown or too large */
function refuseLongBody({ headers }: IncomingRequest): void {
  const isBounded = headers['transfer-encoding'] === undefined;
  if (isBounded && Number(headers['content-length'] ?? 0) <= MAX_VISITOR_BYTES) return;
  throw new InvalidBody('', `must not be longer than ${MAX_VISITOR_BYTES} bytes`);
}

/** Counts a request without a sign-in by its client address. @throws HttpError 429 */
function countedAddress({ counts, clock }: Pick<SignInOperationsOptions, 'counts' | 'clock'>) {
  return async ({ client }: IncomingRequest): Promise<Readonly<Record<string, string>>> => {
    const count = await counts.countSignIn(client);
    if (count?.isRefused === true) throw tooMany(count, clock.now());
    return count === undefined ? {} : countHeaders(count, clock.now());
  };
}

function signInHandlers(options: SignInOperationsOptions): DashboardHandlers<KnownCaller, Visitor> {
  const { signIns, oneTimeToken, publicUrl } = options;
  const counted = keyAdmission(options.counts, options.clock);
  return {
    getDashboardSession: async (_, { signIn }) => ({
      status: 200,
      headers: NOT_KEPT,
      body: signInBody(signIn),
    }),

    async createDashboardSession({ body: { key, token } }, { request }) {
      if (key !== undefined && token !== undefined)
        throw new InvalidBody('token', 'cannot be combined with a key');
      const credential =
        token === undefined
          ? await signIns.ofSecret(givenKey(key), request)
          : await signIns.ofOneTimeKey(oneTimeToken?.keyOf(token), request);
      const limits = await counted(credential);
      // Used up only now, so that a refused request leaves the token valid. Of concurrent requests, only the first
      // succeeds.
      if (token !== undefined) await signIns.ofOneTimeKey(oneTimeToken?.take(token), request);
      const signIn = await signIns.open(credential, request);
      const cookie = signIns.cookie.set(signIn.token, request.client);
      return {
        status: 201,
        headers: { ...limits, ...NOT_KEPT, 'Set-Cookie': cookie },
        body: signInBody(signIn),
      };
    },

    async createQrCode({ body: { text } }) {
      return { status: 200, headers: NOT_KEPT, body: qrCodeBody(text, publicUrl) };
    },

    async deleteDashboardSession({ query: { everywhere } }, { signIn, request }) {
      await signIns.end(signIn, { everywhere });
      return {
        status: 200,
        headers: { ...NOT_KEPT, 'Set-Cookie': signIns.cookie.remove(request.client) },
        body: { object: 'dashboard_session_ended', ended: true, everywhere },
      };
    },
  };
}

/** URL prefix of the messenger's chats. */
const CHATS = 'https://t.me/';

/** Draws QR codes only of pay pages and chats (Decision 251). */
function qrCodeBody(text: string, publicUrl: string): DashboardSchemas['QrCode'] {
  if ([`${publicUrl}/pay/`, CHATS].some(beginning => text.startsWith(beginning)))
    return { object: 'qr_code', ...qrDrawing(text) };
  throw new InvalidBody('text', 'must be the address of a pay page of this service, or of a chat');
}

function givenKey(key: string | undefined): string {
  if (key !== undefined) return key;
  throw new InvalidBody('key', 'is required', { code: 'missing_required_field' });
}

function signInBody({ token, expiresAt, credential }: SignIn): DashboardSchemas['DashboardSession'] {
  const { key, merchant } = credential;
  return {
    object: 'dashboard_session',
    organization: { id: key.organizationId, name: merchant.name },
    mode: key.mode,
    key: { id: key.id, name: key.name, last_four: key.lastFour },
    permission: key.permission,
    permissions: included(key.permission),
    expires_at: timestamp(Math.min(expiresAt, key.expiresAt ?? expiresAt)),
    csrf_token: csrfTokenOf(token),
  };
}
