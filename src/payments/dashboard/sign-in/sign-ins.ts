import type { IncomingRequest } from '#contract/mount/request-gate.ts';
import type { Db, Transaction } from '#db/open.ts';
import { transaction } from '#db/transaction.ts';
import type { Client } from '#http/client-address.ts';
import type { Clock } from '#lib/clock.ts';
import { newId } from '#lib/ids.ts';
import type { RecordChange } from '#payments/api/gate/api-context.ts';
import type { Authenticator, AuthFailure, Credential } from '#payments/api/gate/authenticate.ts';
import { MEMBER_ROLES } from '#payments/browser/member-roles.ts';
import type { Member } from '#payments/members/member.ts';
import { signInAddressStore } from '#payments/members/sign-in-address.ts';
import type { Mode } from '#payments/model/owner.ts';
import type { PaymentChains } from '#payments/model/payment-chain.ts';
import type { Seals } from '#payments/secrets/sealed.ts';
import type { Passkeys } from './passkeys.ts';
import { type SignInHolder, type StoredSignIn, signInStore } from './sign-in-store.ts';
import { signInTokens } from './sign-in-tokens.ts';

/** Sign-in of a member. */
export interface SignIn {
  /** Value of the cookie. */
  readonly token: string;
  readonly stored: StoredSignIn;
  readonly member: Member;
  readonly hasPasskey: boolean;
  readonly credential: Credential;
}

interface SignInsOptions {
  readonly db: Db;
  readonly seals: Seals;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly chains: Pick<PaymentChains, 'all'>;
  readonly keys: Authenticator;
  readonly passkeys: Passkeys;
}

/** Most open sign-ins of one member. Opening another one ends the oldest (Decision 252). */
const SIGN_INS_PER_MEMBER = 50;
/** Most characters of a `User-Agent` that are stored. */
const MAX_USER_AGENT = 300;

type Asking = Pick<IncomingRequest, 'headers' | 'client'>;

const MISSING: AuthFailure = {
  code: 'key_missing',
  message: 'You are not signed in to the dashboard.',
};
const ENDED: AuthFailure = { code: 'key_invalid', message: 'The session has ended: sign in again.' };
const USED: AuthFailure = {
  code: 'key_invalid',
  message: 'This sign-in link was used before or has expired. Request a new one.',
};

export type DashboardSignIns = ReturnType<typeof dashboardSignIns>;

/** Opens, finds and ends sign-ins of members (Decision 244). */
export function dashboardSignIns({ db, seals, clock, publicUrl, chains, keys, passkeys }: SignInsOptions) {
  const cookie = signInCookie(publicUrl);
  const tokens = signInTokens(seals);
  const modes = modesOf(chains);

  return {
    cookie,
    /** Modes that a sign-in can be switched to. The first is that of a new sign-in. */
    modes,

    /**
     * Sign-in of a request. Its member is looked up each time, so that the sign-in ends with the member.
     * @throws HttpError 401 or 429
     */
    async ofRequest(request: Asking): Promise<SignIn> {
      const { client } = request;
      const token = cookie.read(request);
      if (token === undefined) return keys.refuse(MISSING, client);
      if (!tokens.isOurs(token)) return keys.refuse(ENDED, client);
      return keys.lookUp(token, client, async () => {
        const found = await signInStore(db).find(token, clock.now());
        return found === undefined ? keys.refuse(ENDED, client) : signInOf(token, found, clock.now());
      });
    },

    /**
     * Uses a one-time address or an answer of a passkey up, opens a sign-in with a new token, and replaces the browser's
     * earlier sign-in.
     * @throws HttpError 401 or 429, or InvalidBody for a wrong answer
     */
    async open(
      credential: { token: string } | { passkey: object },
      request: Asking,
      recordOf: (signIn: SignIn) => RecordChange,
    ): Promise<SignIn> {
      const { client, headers } = request;
      const token = tokens.create();
      const before = cookie.read(request);
      const createdAt = clock.now();
      const opened = await transaction(db, async handle => {
        const memberId = await memberOf(handle, credential, client);
        if (memberId === undefined) return undefined;
        const store = signInStore(handle);
        if (before !== undefined) await store.removeByToken(before);
        await store.removeOldest(memberId, SIGN_INS_PER_MEMBER - 1);
        await store.insert(token, {
          id: newId('ds'),
          memberId,
          mode: modes[0],
          address: client.address,
          userAgent: headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
          createdAt,
          expiresAt: createdAt + SIGN_IN_LIFETIME_MS,
          confirmedAt: 'passkey' in credential ? createdAt : null,
        });
        const found = await store.find(token, createdAt);
        if (found === undefined) throw new Error('a sign-in ended while it was opened');
        const signIn = signInOf(token, found, createdAt);
        await recordOf(signIn)(handle, { status: 201, body: undefined });
        return signIn;
      });
      return opened ?? keys.refuse(USED, client);
    },

    /** Switches a sign-in to another mode. */
    switchMode: ({ token, stored }: SignIn, mode: Mode): Promise<SignIn> =>
      changed(token, handle => signInStore(handle).setMode(stored.id, mode)),

    /** Confirms the member of a sign-in by a passkey. @throws InvalidBody for a wrong answer */
    confirm: ({ token, stored, member }: SignIn, answer: object, client: Client): Promise<SignIn> =>
      changed(token, async handle => {
        await passkeys.authenticate(
          handle,
          { purpose: `confirm ${member.id}`, memberId: member.id, answer },
          client,
        );
        await signInStore(handle).confirm(stored.id, clock.now());
      }),

    /** Open sign-ins that a member may see: the member's own, and for an owner those of the organization. */
    visible({ member, credential }: SignIn) {
      const { id: memberId, organizationId } = member;
      return signInStore(db).open(credential.isOwner ? { organizationId } : { memberId }, clock.now());
    },

    /** Ends a sign-in by its id. */
    endById: (handle: Transaction, id: string): Promise<void> => signInStore(handle).remove(id),

    /** Ends one sign-in, or all sign-ins of its member. */
    end(
      handle: Transaction,
      { stored, member }: SignIn,
      { everywhere }: { everywhere: boolean },
    ): Promise<void> {
      const store = signInStore(handle);
      return everywhere ? store.removeOfMember(member.id) : store.remove(stored.id);
    },
  };

  /** Member of a credential, which is used up; undefined for an invalid address. */
  async function memberOf(
    handle: Transaction,
    credential: { token: string } | { passkey: object },
    client: Client,
  ): Promise<string | undefined> {
    if ('token' in credential) return signInAddressStore(handle).take(credential.token, clock.now());
    const answer = { purpose: 'sign-in', answer: credential.passkey } as const;
    return (await passkeys.authenticate(handle, answer, client)).memberId;
  }

  /** Changes a sign-in, and reads it again. */
  async function changed(token: string, change: (handle: Transaction) => Promise<void>): Promise<SignIn> {
    const now = clock.now();
    const found = await transaction(db, async handle => {
      await change(handle);
      return signInStore(handle).find(token, now);
    });
    if (found === undefined) throw new Error('a sign-in ended while it was changed');
    return signInOf(token, found, now);
  }
}

/** Time for which a passkey confirms a member, in milliseconds (Decision 417). */
const CONFIRMED_MS = 5 * 60_000;

function signInOf(token: string, holder: SignInHolder, now: number): SignIn {
  const { signIn: stored, member, hasPasskey, tier, merchant } = holder;
  const { id, organizationId, role } = member;
  const { permission, isOwner } = MEMBER_ROLES[role];
  const { mode } = stored;
  const credential = {
    id,
    kind: 'member',
    organizationId,
    mode,
    permission,
    isOwner,
    mustConfirm: hasPasskey && now - (stored.confirmedAt ?? 0) > CONFIRMED_MS,
    tier,
    merchant,
  } as const;
  return { token, stored, member, hasPasskey, credential };
}

/** Modes with chains, live mode first; both when there are no chains (Decision 415). */
function modesOf({ all }: Pick<PaymentChains, 'all'>): readonly [Mode, ...Mode[]] {
  const [first, ...rest] = (['live', 'test'] as const).filter(mode => all.some(chain => chain.mode === mode));
  return first === undefined ? ['live', 'test'] : [first, ...rest];
}

/** Lifetime of a sign-in in milliseconds. Activity does not extend it (Decision 244). */
const SIGN_IN_LIFETIME_MS = 12 * 60 * 60_000;

const PLAIN_NAME = 'tollgate_dashboard';

/**
 * Writes and reads the sign-in cookie (Decision 245). If `publicUrl` has the scheme https, every client is assumed to
 * use https.
 */
function signInCookie(publicUrl: string) {
  return {
    /** `Set-Cookie` header with a new token. */
    set: (token: string, client: Client): string =>
      cookie(token, client, Math.floor(SIGN_IN_LIFETIME_MS / 1000)),

    /** `Set-Cookie` header that removes the cookie. */
    remove: (client: Client): string => cookie('', client, 0),

    /**
     * Token of a request. Undefined without a cookie, and for two cookies, because one of them may come from another
     * site.
     */
    read({ headers, client }: Pick<IncomingRequest, 'headers' | 'client'>): string | undefined {
      const beginning = `${nameFor(client)}=`;
      const values = (headers.cookie ?? '')
        .split(';')
        .map(pair => pair.trim())
        .filter(pair => pair.startsWith(beginning))
        .map(pair => pair.slice(beginning.length));
      return values.length === 1 ? values[0] : undefined;
    },
  };

  function cookie(value: string, client: Client, maxAgeS: number): string {
    const secure = isSecure(client) ? '; Secure' : '';
    return `${nameFor(client)}=${value}; Path=/dashboard; Max-Age=${maxAgeS}; HttpOnly; SameSite=Strict${secure}`;
  }

  /** Browsers accept a cookie with this prefix only over https (RFC 6265bis, 4.1.3.1). */
  function nameFor(client: Client): string {
    return isSecure(client) ? `__Secure-${PLAIN_NAME}` : PLAIN_NAME;
  }

  function isSecure({ protocol }: Client): boolean {
    return protocol === 'https' || publicUrl.startsWith('https:');
  }
}
