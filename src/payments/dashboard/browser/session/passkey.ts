/** Options of a challenge, as the server answers them. */
type ChallengeOptions = Readonly<Record<string, unknown>>;

/** True where the browser has passkeys: over https or at localhost, and with the JSON forms of 2024. */
export function hasPasskeys(): boolean {
  return (
    isSecureContext &&
    typeof PublicKeyCredential === 'function' &&
    typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function' &&
    !/^[\d.]+$|:/.test(location.hostname)
  );
}

/** Answer of a passkey that the person chooses. @throws DOMException when there is none, or the person declines */
export async function askPasskey(options: ChallengeOptions): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(Object(options));
  return answerOfCredential(await navigator.credentials.get({ publicKey }));
}

/** New passkey of the person. @throws DOMException when the person declines */
export async function makePasskey(options: ChallengeOptions): Promise<Record<string, unknown>> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(Object(options));
  return answerOfCredential(await navigator.credentials.create({ publicKey }));
}

function answerOfCredential(credential: Credential | null): Record<string, unknown> {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('The browser made no passkey.');
  return { ...credential.toJSON() };
}
