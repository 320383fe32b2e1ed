import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { record, text } from './json.ts';

/** Passkey in software, which answers challenges like a browser at `origin`. */
export interface SoftwarePasskey {
  /** Answer to a challenge of a registration: the `toJSON()` of a new credential. */
  register(options: unknown): object;
  /** Answer to a challenge of a sign-in or a confirmation. */
  answer(options: unknown): object;
}

/** User present and verified; `AT` adds the new credential. Source: W3C, "Web Authentication", 6.1. */
const FLAGS = { used: 0b0000_0101, AT: 0b0100_0000 };

/** Makes a passkey of ES256, without attestation. */
export function softwarePasskey(origin: string): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  const rpIdHash = sha256(Buffer.from(new URL(origin).hostname));
  let uses = 0;

  const head = (flags: number) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(uses++);
    return Buffer.concat([rpIdHash, Buffer.from([flags]), counter]);
  };
  const clientData = (type: string, options: unknown) =>
    Buffer.from(
      JSON.stringify({ type, challenge: text(record(options).challenge), origin, crossOrigin: false }),
    );
  const credential = (response: object) => ({
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    register(options) {
      const key = coseKey(Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url'));
      const attested = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, key]);
      const authData = Buffer.concat([head(FLAGS.used | FLAGS.AT), attested]);
      return credential({
        clientDataJSON: clientData('webauthn.create', options).toString('base64url'),
        attestationObject: attestation(authData).toString('base64url'),
        transports: ['internal'],
      });
    },
    answer(options) {
      const authData = head(FLAGS.used);
      const data = clientData('webauthn.get', options);
      const signature = sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey);
      return credential({
        clientDataJSON: data.toString('base64url'),
        authenticatorData: authData.toString('base64url'),
        signature: signature.toString('base64url'),
      });
    },
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

/** COSE key of ES256 in CBOR: { 1: 2, 3: -7, -1: 1, -2: x, -3: y }. Source: RFC 9053, 7.1.1. */
function coseKey(x: Buffer, y: Buffer): Buffer {
  const start = Buffer.from([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]);
  return Buffer.concat([start, x, Buffer.from([0x22, 0x58, 0x20]), y]);
}

/** `{ fmt: "none", attStmt: {}, authData }` in CBOR. */
function attestation(authData: Buffer): Buffer {
  const name = (given: string) => Buffer.concat([Buffer.from([0x60 + given.length]), Buffer.from(given)]);
  const parts = [Buffer.from([0xa3]), name('fmt'), name('none'), name('attStmt'), Buffer.from([0xa0])];
  return Buffer.concat([...parts, name('authData'), Buffer.from([0x58, authData.length]), authData]);
}
