import type { DashboardHandlers, DashboardSchemas } from '#contract/contracts/payments.ts';
import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db, Transaction } from '#db/open.ts';
import { type Clock, timestamp } from '#lib/clock.ts';
import type { ApiCaller } from '../../api/gate/api-context.ts';
import { nullableTimestamp, resourceNotFound } from '../../api/responses/answers.ts';
import type { Member } from '../../members/member.ts';
import { type Passkey, passkeyStore } from '../../members/passkey-store.ts';
import { mailEach } from '../../notifications/store/owner-notices.ts';
import type { Seals } from '../../secrets/sealed.ts';
import type { Passkeys } from './passkeys.ts';
import type { DashboardSignIns, SignIn } from './sign-ins.ts';

interface PasskeyOperationsOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly passkeys: Passkeys;
  readonly signIns: DashboardSignIns;
  /** Body of a session. */
  readonly bodyOf: (signIn: SignIn) => DashboardSchemas['DashboardSession'];
}

type Handlers = DashboardHandlers<
  { readonly signIn: SignIn; readonly request: IncomingRequest; readonly api: ApiCaller },
  { readonly request: IncomingRequest }
>;
type PasskeyHandlers = Pick<
  Handlers,
  | 'createPasskeyChallenge'
  | 'createPasskeyRegistration'
  | 'listPasskeys'
  | 'createPasskey'
  | 'deletePasskey'
  | 'createPasskeyConfirmation'
  | 'confirmDashboardSession'
>;

/** Operations on passkeys of members (Decision 417). */
export function passkeyHandlers({
  db,
  seals,
  clock,
  passkeys,
  signIns,
  bodyOf,
}: PasskeyOperationsOptions): PasskeyHandlers {
  return {
    async createPasskeyChallenge(_, { request: { client } }) {
      return optionsAnswer(await passkeys.authentication('sign-in', [], client));
    },

    async createPasskeyRegistration(_, { signIn, request: { client } }) {
      checkFresh(signIn);
      const { member } = signIn;
      const known = await passkeyStore(db).ofMember(member.id);
      return optionsAnswer(await passkeys.registration(member, known, client));
    },

    async listPasskeys(_, { signIn: { member } }) {
      const data = (await passkeyStore(db).ofMember(member.id)).map(passkeyBody);
      return { status: 200, body: { object: 'list', data } };
    },

    createPasskey: ({ body: { name, passkey: answer } }, { signIn, request: { client }, api }) =>
      api.commit(async handle => {
        checkFresh(signIn);
        const { member } = signIn;
        const made = await passkeys.register(handle, { member, name: name.trim(), answer }, client);
        await mail(handle, member, { change: 'added', name: made.name });
        return { status: 201, body: passkeyBody(made) };
      }),

    deletePasskey: ({ path: { passkey_id: id } }, { signIn: { member }, api }) =>
      api.commit(async handle => {
        const passkey = await passkeyStore(handle).find(id);
        if (passkey?.memberId !== member.id) throw resourceNotFound('passkey', id);
        await passkeyStore(handle).remove(id);
        await mail(handle, member, { change: 'removed', name: passkey.name });
        return { status: 200, body: { object: 'passkey', id, deleted: true } as const };
      }),

    async createPasskeyConfirmation(_, { signIn: { member }, request: { client } }) {
      const known = await passkeyStore(db).ofMember(member.id);
      return optionsAnswer(await passkeys.authentication(`confirm ${member.id}`, known, client));
    },

    async confirmDashboardSession({ body: { passkey } }, { signIn, request: { client } }) {
      return { status: 200, body: bodyOf(await signIns.confirm(signIn, passkey, client)) };
    },
  };

  /**
   * Refuses a first passkey in an old sign-in, whose cookie may be stolen: it would sign the thief in for good, and keep the
   * member from confirming anything.
   * @throws HttpError 403 insufficient_permissions
   */
  function checkFresh({ hasPasskey, stored }: SignIn): void {
    if (hasPasskey || clock.now() - stored.createdAt <= FRESH_MS) return;
    const message =
      'Sign out and sign in again to add your first passkey: this sign-in is older than 15 minutes.';
    throw paymentsError('insufficient_permissions', message, { param: 'session' });
  }

  /** Queues a mail about a passkey for its member. */
  function mail(
    handle: Transaction,
    { organizationId, email: address }: Member,
    change: { change: 'added' | 'removed'; name: string },
  ): Promise<void> {
    const scope = { handle, seals, now: clock.now() };
    return mailEach(scope, { organizationId, mode: 'live' }, [address], email => ({
      kind: 'passkey_changed',
      email,
      ...change,
      changedAt: scope.now,
    }));
  }
}

/** Age of a sign-in that may add the member's first passkey, in milliseconds (Decision 417). */
const FRESH_MS = 15 * 60_000;

/** The answer holds a challenge, so browsers must not store it. */
function optionsAnswer(options: object) {
  const body = { object: 'passkey_challenge', options: { ...options } } as const;
  return { status: 200, headers: { 'Cache-Control': 'no-store' }, body } as const;
}

function passkeyBody({ id, name, createdAt, lastUsedAt }: Passkey): DashboardSchemas['Passkey'] {
  return {
    object: 'passkey',
    id,
    name,
    created_at: timestamp(createdAt),
    last_used_at: nullableTimestamp(lastUsedAt),
  };
}
