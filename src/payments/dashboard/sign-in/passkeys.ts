import { timingSafeEqual } from 'node:crypto';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { InvalidBody } from '#contract/contracts/violations.ts';
import type { Transaction } from '#db/open.ts';
import type { Client } from '#http/client-address.ts';
import type { Clock } from '#lib/clock.ts';
import type { Member } from '#payments/members/member.ts';
import { type Passkey, passkeyStore } from '#payments/members/passkey-store.ts';
import { newToken } from '#payments/members/sign-in-address.ts';
import type { Seals } from '#payments/secrets/sealed.ts';

interface PasskeysOptions {
  readonly seals: Pick<Seals, 'hash'>;
  readonly clock: Clock;
  readonly publicUrl: string;
}

/** Purpose of a challenge: signing in, or what a member does. An answer is good for this purpose only. */
export type ChallengePurpose = 'sign-in' | `register ${string}` | `confirm ${string}`;

/** Lifetime of a challenge, in milliseconds. */
const CHALLENGE_LIFETIME_MS = 5 * 60_000;
const COLUMN = { table: 'spent_challenges', column: 'challenge_hash' } as const;
const CHALLENGE = /^(\d+)\.([\w-]{43})\.([\w-]{43})$/;
const NAME = 'tollgate';

/** Ways in which a browser reaches an authenticator. Source: W3C, "Web Authentication", 5.8.4. */
const TRANSPORTS = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

const REFUSED = 'is not a valid answer to the challenge: try again';

export type Passkeys = ReturnType<typeof passkeys>;

/**
 * Challenges for passkeys, and their answers (Decision 417). A challenge is signed and not stored; only one that was answered
 * is, so that it is answered once. Source: W3C, "Web Authentication", sections 7.1 and 7.2.
 */
export function passkeys({ seals, clock, publicUrl }: PasskeysOptions) {
  return { registration, register, authentication, authenticate };

  /** Options for `navigator.credentials.create`. @throws InvalidBody outside of a secure context */
  async function registration(
    { id, name, email }: Member,
    known: readonly Passkey[],
    client: Client,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await import('@simplewebauthn/server');
    return generateRegistrationOptions({
      rpName: NAME,
      rpID: new URL(originOf(client)).hostname,
      userID: new Uint8Array(Buffer.from(id)),
      userName: email ?? name,
      userDisplayName: name,
      challenge: new Uint8Array(Buffer.from(challengeFor(`register ${id}`))),
      attestationType: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: known.map(credentialOf),
    });
  }

  /** Stores the new passkey of a member. @throws InvalidBody for a wrong answer */
  async function register(
    handle: Transaction,
    { member, name, answer }: { member: Member; name: string; answer: object },
    client: Client,
  ): Promise<Passkey> {
    const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
    let challenge = '';
    const origin = originOf(client);
    const verified = await verifyRegistrationResponse({
      response: registrationAnswer(answer),
      expectedChallenge: given => {
        challenge = given;
        return isOurs(given, `register ${member.id}`);
      },
      expectedOrigin: origin,
      expectedRPID: new URL(origin).hostname,
    }).catch(asRefusal);
    if (!verified.verified) throw new InvalidBody('passkey', REFUSED);
    await spend(handle, challenge);
    const { id, publicKey, counter, transports = [] } = verified.registrationInfo.credential;
    const passkey: Passkey = {
      id,
      memberId: member.id,
      name,
      publicKey: Buffer.from(publicKey),
      counter,
      transports: transports.map(String),
      createdAt: clock.now(),
      lastUsedAt: null,
    };
    if ((await passkeyStore(handle).find(id)) !== undefined)
      throw new InvalidBody('passkey', 'is registered already');
    await passkeyStore(handle).insert(passkey);
    return passkey;
  }

  /** Options for `navigator.credentials.get`. @throws InvalidBody outside of a secure context */
  async function authentication(
    purpose: ChallengePurpose,
    allowed: readonly Passkey[],
    client: Client,
  ): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
    return generateAuthenticationOptions({
      rpID: new URL(originOf(client)).hostname,
      challenge: new Uint8Array(Buffer.from(challengeFor(purpose))),
      userVerification: 'required',
      allowCredentials: allowed.map(credentialOf),
    });
  }

  /** Passkey that answers a challenge of this purpose, of any member or of one. @throws InvalidBody for a wrong answer */
  async function authenticate(
    handle: Transaction,
    { purpose, answer, memberId }: { purpose: ChallengePurpose; answer: object; memberId?: string },
    client: Client,
  ): Promise<Passkey> {
    const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
    const response = authenticationAnswer(answer);
    const passkey = await passkeyStore(handle).find(response.id);
    if (passkey === undefined || passkey.memberId !== (memberId ?? passkey.memberId))
      throw new InvalidBody('passkey', 'is not known here: it was removed, or is of another server');
    let challenge = '';
    const origin = originOf(client);
    const { id, publicKey, counter } = passkey;
    const verified = await verifyAuthenticationResponse({
      response,
      expectedChallenge: given => {
        challenge = given;
        return isOurs(given, purpose);
      },
      expectedOrigin: origin,
      expectedRPID: new URL(origin).hostname,
      credential: { id, publicKey: new Uint8Array(publicKey), counter },
    }).catch(asRefusal);
    if (!verified.verified) throw new InvalidBody('passkey', REFUSED);
    await spend(handle, challenge);
    await passkeyStore(handle).noteUse(id, verified.authenticationInfo.newCounter, clock.now());
    return passkey;
  }

  /**
   * Origin whose passkeys are accepted: that of the public address, or of this machine by its name. Browsers have passkeys
   * nowhere else.
   */
  function originOf({ protocol, host }: Client): string {
    const asked = URL.canParse(`${protocol}://${host}`) ? new URL(`${protocol}://${host}`) : undefined;
    if (asked?.hostname === 'localhost') return asked.origin;
    if (publicUrl.startsWith('https:')) return new URL(publicUrl).origin;
    throw new InvalidBody(
      'passkey',
      'needs an https address of this server (payments.publicUrl), or localhost',
    );
  }

  function challengeFor(purpose: ChallengePurpose): string {
    const unsigned = `${clock.now() + CHALLENGE_LIFETIME_MS}.${newToken()}`;
    return `${unsigned}.${signatureOf(unsigned, purpose)}`;
  }

  function signatureOf(unsigned: string, purpose: ChallengePurpose): string {
    return seals.hash(`${purpose} ${unsigned}`, COLUMN);
  }

  /** `challenge` is base64url, as browsers return it. */
  function isOurs(challenge: string, purpose: ChallengePurpose): boolean {
    const [, until = '', random = '', signature = ''] = CHALLENGE.exec(textOf(challenge)) ?? [];
    if (signature === '' || Number(until) <= clock.now()) return false;
    const expected = signatureOf(`${until}.${random}`, purpose);
    return timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
  }

  async function spend(handle: Transaction, challenge: string): Promise<void> {
    const isFirst = await passkeyStore(handle).spend(challenge, clock.now() + CHALLENGE_LIFETIME_MS);
    if (!isFirst) throw new InvalidBody('passkey', REFUSED);
  }
}

function credentialOf({ id, transports }: Passkey) {
  return { id, transports: transportsOf(transports) };
}

function textOf(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString();
}

function asRefusal(cause: unknown): never {
  throw new InvalidBody('passkey', REFUSED, { cause });
}

function field(value: object, name: string): unknown {
  return Reflect.get(value, name);
}

function textField(value: object, name: string): string {
  const text = field(value, name);
  if (typeof text !== 'string') throw new InvalidBody('passkey', REFUSED);
  return text;
}

function objectField(value: object, name: string): object {
  const found = field(value, name);
  if (typeof found !== 'object' || found === null) throw new InvalidBody('passkey', REFUSED);
  return found;
}

/** Part of a browser's `credential.toJSON()` that both ceremonies share. */
function answerHead(answer: object) {
  const id = textField(answer, 'id');
  return { id, rawId: id, type: 'public-key', clientExtensionResults: {} } as const;
}

function registrationAnswer(answer: object): RegistrationResponseJSON {
  const response = objectField(answer, 'response');
  return {
    ...answerHead(answer),
    response: {
      clientDataJSON: textField(response, 'clientDataJSON'),
      attestationObject: textField(response, 'attestationObject'),
      transports: transportsOf(field(response, 'transports')),
    },
  };
}

function transportsOf(given: unknown): (typeof TRANSPORTS)[number][] {
  return Array.isArray(given) ? TRANSPORTS.filter(one => given.includes(one)) : [];
}

function authenticationAnswer(answer: object): AuthenticationResponseJSON {
  const response = objectField(answer, 'response');
  return {
    ...answerHead(answer),
    response: {
      clientDataJSON: textField(response, 'clientDataJSON'),
      authenticatorData: textField(response, 'authenticatorData'),
      signature: textField(response, 'signature'),
    },
  };
}
