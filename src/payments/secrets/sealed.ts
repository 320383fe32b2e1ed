import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** The cell that holds a sealed value. It is sealed in too: moved to another row or column, a value does not open. */
export interface Cell {
  readonly table: string;
  readonly column: string;
  /** The row's primary key. */
  readonly id: string;
}

/** Encrypts single values for a database that others may read. */
export interface Seals {
  /** The text, encrypted under the current key: `v1.<key id>.<base64url of nonce, ciphertext and tag>`. */
  seal(text: string, cell: Cell): string;
  /** The text behind `seal`, under whichever known key it was. @throws SealError */
  open(sealed: string, cell: Cell): string;
  /**
   * A keyed hash of a text (HMAC-SHA-256, base64url) under the current key. Equal texts of one column have equal hashes;
   * without the key nobody can tell whether a text is behind one.
   */
  hash(text: string, column: Omit<Cell, 'id'>): string;
  /** Ids of the keys, the current one first. An id tells keys apart and nothing about a key. */
  readonly keyIds: readonly [current: string, ...older: string[]];
}

/** Why a sealed value does not open; never what is in it. */
export class SealError extends Error {
  override readonly name = 'SealError';
  readonly kind: 'unknown_key' | 'damaged';
  readonly cell: Cell;

  constructor(kind: SealError['kind'], cell: Cell, options?: ErrorOptions) {
    const reason = kind === 'unknown_key' ? 'was sealed with a key that is not known' : 'is damaged';
    super(`The value of ${cell.table}.${cell.column} of ${cell.id} ${reason}.`, options);
    this.kind = kind;
    this.cell = cell;
  }
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * AES-256-GCM with a random nonce a value. The first secret seals, and all of them open, which is how a key is
 * rotated. A key's id is derived from its secret and tells nothing about it.
 */
export function seals(secrets: readonly [current: string, ...older: string[]]): Seals {
  const [current, ...older] = secrets;
  const keys = new Map(secrets.map(secret => [keyIdOf(secret), keyOf(secret, 'key')]));
  const currentId = keyIdOf(current);
  const currentKey = keyOf(current, 'key');
  const hashKey = keyOf(current, 'hash');

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
        // GCM gives every byte with `update`; this only proves them.
        decipher.final();
        return text.toString('utf8');
      } catch (cause) {
        throw new SealError('damaged', cell, { cause });
      }
    },

    hash: (text, { table, column }) =>
      createHmac('sha256', hashKey)
        .update(JSON.stringify([table, column, text]))
        .digest('base64url'),

    keyIds: [currentId, ...older.map(keyIdOf)],
  };
}

/** True when base64url text is the one that stands for these bytes: its last digits have bits that stand for nothing. */
function endsAs(bytes: Buffer, base64url: string): boolean {
  const tail = bytes.subarray(bytes.length - (bytes.length % 3));
  const digits = Math.ceil((bytes.length * 4) / 3);
  return base64url.length === digits && base64url.endsWith(tail.toString('base64url'));
}

function keyIdOf(secret: string): string {
  return derived(secret, 'id', 4).toString('hex');
}

/** A key object, because Node takes 10 µs for each use of a key that is mere bytes. */
function keyOf(secret: string, purpose: 'key' | 'hash'): KeyObject {
  return createSecretKey(derived(secret, purpose, 32));
}

/** A secret is random text of any length; each purpose gets bytes of its own from it. Source: RFC 5869. */
function derived(secret: string, purpose: 'key' | 'id' | 'hash', bytes: number): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `tollgate sealed value: ${purpose}`, bytes));
}

/** JSON, because joined with a mere separator two different cells could read the same. */
function associatedData(keyId: string, { table, column, id }: Cell): Buffer {
  return Buffer.from(JSON.stringify(['v1', keyId, table, column, id]));
}
