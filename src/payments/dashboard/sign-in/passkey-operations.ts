import type { DashboardHandlers, DashboardSchemas } from '#contract/contracts/payments.ts';
import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db } from '#db/open.ts';
import { timestamp } from '#lib/clock.ts';
import type { ApiCaller } from '../../api/gate/api-context.ts';
import { nullableTimestamp, resourceNotFound } from '../../api/responses/answers.ts';
import { type Passkey, passkeyStore } from '../../members/passkey-store.ts';
import type { Passkeys } from './passkeys.ts';
import type { DashboardSignIns, SignIn } from './sign-ins.ts';

interface PasskeyOperationsOptions {
  readonly db: Db;
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
  passkeys,
  signIns,
  bodyOf,
}: PasskeyOperationsOptions): PasskeyHandlers {
  return {
    async createPasskeyChallenge(_, { request: { client } }) {
      return optionsAnswer(await passkeys.authentication('sign-in', [], client));
    },

    async createPasskeyRegistration(_, { signIn: { member }, request: { client } }) {
      const known = await passkeyStore(db).ofMember(member.id);
      return optionsAnswer(await passkeys.registration(member, known, client));
    },

    async listPasskeys(_, { signIn: { member } }) {
      const data = (await passkeyStore(db).ofMember(member.id)).map(passkeyBody);
      return { status: 200, body: { object: 'list', data } };
    },

    createPasskey: ({ body: { name, passkey: answer } }, { signIn: { member }, request: { client }, api }) =>
      api.commit(async handle => {
        const made = await passkeys.register(handle, { member, name: name.trim(), answer }, client);
        return { status: 201, body: passkeyBody(made) };
      }),

    deletePasskey: ({ path: { passkey_id: id } }, { signIn: { member }, api }) =>
      api.commit(async handle => {
        const passkey = await passkeyStore(handle).find(id);
        if (passkey?.memberId !== member.id) throw resourceNotFound('passkey', id);
        await passkeyStore(handle).remove(id);
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
}

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
