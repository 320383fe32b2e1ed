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
import { timestamp } from '#lib/clock.ts';
import { qrDrawing } from '#pages/qr.ts';
import type { ApiCaller } from '../../api/gate/api-context.ts';
import { apiCaller } from '../../api/gate/gate.ts';
import { checkConfirmed, checkOwner } from '../../api/gate/owner-only.ts';
import { callerAdmission, countHeaders, type RateLimits, tooMany } from '../../api/gate/rate-limits.ts';
import type { AuditTrail } from '../../api/gate/recorded-commits.ts';
import { resourceNotFound } from '../../api/responses/answers.ts';
import { included } from '../../keys/api-key.ts';
import type { Member } from '../../members/member.ts';
import type { Mode } from '../../model/owner.ts';
import type { dashboardOverview } from '../overview.ts';
import { checkChange, checkOrigin, csrfTokenOf } from './csrf.ts';
import { type MemberOperationsOptions, memberHandlers } from './member-operations.ts';
import { checkNamedSession } from './named-session.ts';
import { passkeyHandlers } from './passkey-operations.ts';
import type { Passkeys } from './passkeys.ts';
import type { DashboardSignIns, SignIn } from './sign-ins.ts';

export interface SignInOperationsOptions extends MemberOperationsOptions {
  readonly passkeys: Passkeys;
  readonly signIns: DashboardSignIns;
  readonly counts: RateLimits;
  readonly validateResponses: boolean;
  readonly trail: AuditTrail;
  readonly readOverview: ReturnType<typeof dashboardOverview>;
}

interface KnownCaller {
  readonly signIn: SignIn;
  readonly request: IncomingRequest;
  readonly api: ApiCaller;
}

interface Visitor {
  readonly request: IncomingRequest;
}

/** The answer holds a token, so browsers must not store it. */
const NOT_KEPT = { 'Cache-Control': 'no-store' };

/** Serves signing in and out of the dashboard, and the QR codes of its pages. */
export function signInOperations(options: SignInOperationsOptions): Promise<Middleware> {
  const bodyOf = (signIn: SignIn) => signInBody(signIn, options.signIns.modes);
  return mountGated<DashboardOperations, DashboardPublicOperation, KnownCaller, Visitor>({
    contract: dashboardContract,
    gate: signInGate(options),
    handlers: {
      ...signInHandlers(options),
      ...memberHandlers(options),
      ...passkeyHandlers({ ...options, bodyOf }),
    },
    validateResponses: options.validateResponses,
  });
}

function signInGate(options: SignInOperationsOptions): Gate<KnownCaller, Visitor> {
  const { signIns, publicUrl } = options;
  const counted = callerAdmission(options.counts, options.clock);
  const countedVisitor = countedAddress(options);
  return {
    async authenticate(request) {
      const signIn = await signIns.ofRequest(request);
      const { id: memberId, organizationId } = signIn.member;
      request.identify({ memberId, organizationId });
      return { signIn, request, api: apiCaller(options, signIn.credential, request) };
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
    // The request is counted first, which limits guessing.
    permit({ signIn, request }, roles) {
      checkNamedSession(request, signIn.credential);
      checkChange(request, { token: signIn.token, publicUrl });
      if (roles.includes('owner')) checkOwner(signIn.credential);
      if (roles.includes('confirmed')) checkConfirmed(signIn.credential);
    },
    replay: (caller, _, proceed) => proceed(caller),
  };
}

/** Longest body without a sign-in: a credential, with room for any encoding. */
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

function signInHandlers(
  options: SignInOperationsOptions,
): Omit<
  DashboardHandlers<KnownCaller, Visitor>,
  keyof (ReturnType<typeof memberHandlers> & ReturnType<typeof passkeyHandlers>)
> {
  const { signIns, publicUrl } = options;
  const bodyOf = (signIn: SignIn) => signInBody(signIn, signIns.modes);
  return {
    getDashboardSession: async (_, { signIn }) => ({
      status: 200,
      headers: NOT_KEPT,
      body: bodyOf(signIn),
    }),

    async createDashboardSession({ body }, { request }) {
      const signIn = await signIns.open(givenCredential(body), request, ({ credential }) =>
        options.trail({ ...credential, actor: `member:${credential.id}` }, request),
      );
      const cookie = signIns.cookie.set(signIn.token, request.client);
      return {
        status: 201,
        headers: { ...NOT_KEPT, 'Set-Cookie': cookie },
        body: bodyOf(signIn),
      };
    },

    async updateDashboardSession({ body: { mode } }, { signIn }) {
      if (!signIns.modes.includes(mode))
        throw new InvalidBody(
          'mode',
          `must be ${signIns.modes.join(' or ')}: this service has no other chains`,
        );
      return { status: 200, headers: NOT_KEPT, body: bodyOf(await signIns.switchMode(signIn, mode)) };
    },

    async listDashboardSessions(_, { signIn }) {
      const all = await signIns.visible(signIn);
      const data = all.map(({ signIn: { id, mode, address, userAgent, createdAt, expiresAt }, member }) => ({
        object: 'open_dashboard_session' as const,
        id,
        member: memberBody(member),
        mode,
        is_current: id === signIn.stored.id,
        address,
        user_agent: userAgent,
        created_at: timestamp(createdAt),
        expires_at: timestamp(expiresAt),
      }));
      return { status: 200, headers: NOT_KEPT, body: { object: 'list', data } };
    },

    async endDashboardSession({ path: { session_id: id } }, { signIn, api }) {
      const all = await signIns.visible(signIn);
      if (!all.some(open => open.signIn.id === id)) throw resourceNotFound('dashboard_session', id);
      const ended = await api.commit(async handle => {
        await signIns.endById(handle, id);
        return { status: 200, body: endedBody(false) };
      });
      return { ...ended, headers: NOT_KEPT };
    },

    getDashboardOverview: async ({ query: { period } }, { api }) => ({
      status: 200,
      headers: NOT_KEPT,
      body: await options.readOverview(period, api),
    }),

    async createQrCode({ body: { text } }) {
      return { status: 200, headers: NOT_KEPT, body: qrCodeBody(text, publicUrl) };
    },

    async deleteDashboardSession({ query: { everywhere } }, { signIn, request, api }) {
      const ended = await api.commit(async handle => {
        await signIns.end(handle, signIn, { everywhere });
        return { status: 200, body: endedBody(everywhere) };
      });
      return { ...ended, headers: { ...NOT_KEPT, 'Set-Cookie': signIns.cookie.remove(request.client) } };
    },
  };
}

function endedBody(everywhere: boolean): DashboardSchemas['EndedDashboardSession'] {
  return { object: 'dashboard_session_ended', ended: true, everywhere };
}

/** URL prefix of the messenger's chats. */
const CHATS = 'https://t.me/';

/** Draws QR codes only of pay pages and chats (Decision 251). */
function qrCodeBody(text: string, publicUrl: string): DashboardSchemas['QrCode'] {
  if ([`${publicUrl}/pay/`, CHATS].some(beginning => text.startsWith(beginning)))
    return { object: 'qr_code', ...qrDrawing(text) };
  throw new InvalidBody('text', 'must be the address of a pay page of this service, or of a chat');
}

/** @throws InvalidBody for none or two */
function givenCredential({ token, passkey }: DashboardSchemas['DashboardSignIn']) {
  if (token === undefined && passkey === undefined)
    throw new InvalidBody('token', 'is required', { code: 'missing_required_field' });
  if (token !== undefined && passkey !== undefined)
    throw new InvalidBody('token', 'cannot be combined with a passkey');
  return passkey === undefined ? { token: token ?? '' } : { passkey };
}

function signInBody(
  { token, stored, member, hasPasskey, credential }: SignIn,
  modes: readonly Mode[],
): DashboardSchemas['DashboardSession'] {
  const { organizationId, mode, permission, merchant } = credential;
  return {
    object: 'dashboard_session',
    id: stored.id,
    organization: { id: organizationId, name: merchant.name },
    mode,
    modes: [...modes],
    member: memberBody(member),
    permission,
    permissions: included(permission),
    has_passkey: hasPasskey,
    expires_at: timestamp(stored.expiresAt),
    csrf_token: csrfTokenOf(token),
  };
}

function memberBody({ id, name, email, role }: Member): DashboardSchemas['SignedInMember'] {
  return { id, name, email, role };
}
