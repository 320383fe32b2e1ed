import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { randomBase62 } from '../../lib/ids.ts';
import type { Mode } from '../model/owner.ts';

/** Permissions of a key; each includes those before it. Source: document 3, "Authentication". */
export const PERMISSIONS = ['read', 'write', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** An API key without its secret. Times are UTC milliseconds. */
export interface ApiKey {
  readonly id: string;
  readonly organizationId: string;
  readonly mode: Mode;
  readonly name: string;
  /** First 13 characters of the key. */
  readonly prefix: string;
  readonly lastFour: string;
  readonly permission: Permission;
  readonly expiresAt: number | null;
  readonly lastUsedAt: number | null;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** Time of the roll to a new key. The old key stays usable until `expiresAt` and cannot be rolled again. */
  readonly rolledAt: number | null;
}

/** A permission and those that it includes, in rising order. */
export function included(permission: Permission): Permission[] {
  return PERMISSIONS.slice(0, PERMISSIONS.indexOf(permission) + 1);
}

/** True for a key that is neither expired nor revoked. */
export function isActiveKey(key: Pick<ApiKey, 'expiresAt' | 'revokedAt'>, now: number): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

/** `tg_live_` or `tg_test_`, 32 random letters and digits, and 6 checksum characters (Decision 104). */
const KEY = /^tg_(live|test)_[0-9A-Za-z]{38}$/;
const RANDOM_LENGTH = 32;
const CHECKSUM_LENGTH = 6;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A new secret for a key of that mode. */
export function newKey(mode: Mode): string {
  const checked = `tg_${mode}_${randomBase62(RANDOM_LENGTH)}`;
  return checked + checksumOf(checked);
}

/** True for a text of the form that `newKey` produces. Any other text is refused without a database query. */
export function isWellFormedKey(text: string): boolean {
  if (!KEY.test(text)) return false;
  return text.slice(-CHECKSUM_LENGTH) === checksumOf(text.slice(0, -CHECKSUM_LENGTH));
}

/** The mode in a key's prefix; undefined for a text that is not a key. */
export function modeOfKey(text: string): Mode | undefined {
  if (!isWellFormedKey(text)) return undefined;
  return text.startsWith('tg_live_') ? 'live' : 'test';
}

/** SHA-256 of a key, which is stored in its place. A slow hash would add nothing: a key has 190 random bits. */
export function hashOfKey(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/** CRC-32 in six base62 digits. They hold more than 32 bits, so different sums have different texts. */
function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = BASE62.charAt(rest % BASE62.length) + digits;
    rest = Math.floor(rest / BASE62.length);
  }
  return digits;
}
