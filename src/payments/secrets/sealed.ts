import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** The cell of a sealed value. It is authenticated with the value, which therefore opens in no other row or column. */
export interface SealedCell {
  readonly table: string;
  readonly column: string;
  /** The row's primary key. */
  readonly id: string;
}

/** Encrypts single values of a database that other people may be able to read. */
export interface Seals {
  /** Encrypts a text with the current key: `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
  seal(text: string, cell: SealedCell): string;
  /** Decrypts a text that was sealed with any of the known keys. @throws SealError */
  open(sealed: string, cell: SealedCell): string;
  /**
   * A keyed hash of a text (HMAC-SHA-256, base64url) with the current key. Equal texts of one column have equal hashes.
   * Without the key, a hash cannot be tested against a guessed text.
   */
  hash(text: string, column: Omit<SealedCell, 'id'>): string;
  /** The same with each known key, the current one first. */
  hashes(text: string, column: Omit<SealedCell, 'id'>): readonly [current: string, ...older: string[]];
  /** Ids of the keys, the current one first. An id reveals nothing about its key. */
  readonly keyIds: readonly [current: string, ...older: string[]];
}

/** A sealed value that cannot be opened. The message never contains the value. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly kind: 'unknown_key' | 'damaged';
  readonly cell: SealedCell;

  constructor(kind: SealError['kind'], cell: SealedCell, options?: ErrorOptions) {
    const reason = kind === 'unknown_key' ? 'was sealed with a key that is not known' : 'is damaged';
    super(`The value of ${cell.table}.${cell.column} of ${cell.id} ${reason}.`, options);
    this.kind = kind;
    this.cell = cell;
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a random nonce per value. The first secret seals and all of them open, which makes rotation
 * possible. A key's id is derived from its secret and reveals nothing about it.
 */
export function seals(secrets: readonly [current: string, ...older: string[]]): Seals {
  const [current, ...older] = secrets;
  const keys = new Map(secrets.map(secret => [keyIdOf(secret), keyOf(secret, 'key')]));
  const currentId = keyIdOf(current);
  const currentKey = keyOf(current, 'key');
  const hashKey = keyOf(current, 'hash');
  const olderHashKeys = older.map(secret => keyOf(secret, 'hash'));

  return {
    seal(text, cell) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', currentKey, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(currentId, cell));
      const bytes = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${currentId}.${bytes.toString('base64url')}`;
    },

    open(sealed, cell) {
      const [, id = '', body = ''] = /^v1\.([0-9a-f]{8})\.([\w-]+)$/.exec(sealed) ?? [];
      const bytes = Buffer.from(body, 'base64url');
      if (bytes.length < NONCE_BYTES + TAG_BYTES || !endsAs(bytes, body))
        throw new SealError('damaged', cell);
      const key = keys.get(id);
      if (key === undefined) throw new SealError('unknown_key', cell);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(associatedData(id, cell));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        // `update` has returned all bytes; `final` only verifies them.
        decipher.final();
        return text.toString('utf8');
      } catch (cause) {
        throw new SealError('damaged', cell, { cause });
      }
    },

    hash: (text, column) => hashOf(hashKey, text, column),

    hashes: (text, column) => [
      hashOf(hashKey, text, column),
      ...olderHashKeys.map(key => hashOf(key, text, column)),
    ],

    keyIds: [currentId, ...older.map(keyIdOf)],
  };
}

function hashOf(key: KeyObject, text: string, { table, column }: Omit<SealedCell, 'id'>): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([table, column, text]))
    .digest('base64url');
}

/**
 * True when the text is the canonical base64url of these bytes. Its last digit has unused bits, so other texts decode
 * to the same bytes.
 */
function endsAs(bytes: Buffer, base64url: string): boolean {
  const tail = bytes.subarray(bytes.length - (bytes.length % 3));
  const digits = Math.ceil((bytes.length * 4) / 3);
  return base64url.length === digits && base64url.endsWith(tail.toString('base64url'));
}

function keyIdOf(secret: string): string {
  return derived(secret, 'id', 4).toString('hex');
}

/** A key object: Node needs 10 µs more for each use of a key given as bytes. */
function keyOf(secret: string, purpose: 'key' | 'hash'): KeyObject {
  return createSecretKey(derived(secret, purpose, 32));
}

/** Derives bytes for one purpose from a secret, which is random text of any length. Source: RFC 5869. */
function derived(secret: string, purpose: 'key' | 'id' | 'hash', bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `tollgate sealed value: ${purpose}`, bytes));
}

/** JSON, because two different cells could give the same text if they were joined with a separator. */
function associatedData(keyId: string, { table, column, id }: SealedCell): Buffer {
  return Buffer.from(JSON.stringify(['v1', keyId, table, column, id]));
}
