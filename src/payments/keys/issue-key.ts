import type { Handle } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import { type ApiKey, newKey, type Permission } from './api-key.ts';
import { apiKeyStore } from './api-key-store.ts';

/**
 * Numbers of first and last characters of a key that are stored for display. The rest is kept as a hash only (Decision
 * 104).
 */
const PREFIX_LENGTH = 13;
const LAST_LENGTH = 4;

/** Terms of a new key. Times are UTC milliseconds. */
export interface KeyDraft extends Owner {
  readonly name: string;
  readonly permission: Permission;
  readonly expiresAt: number | null;
}

/** Creates a key and stores it without its secret. The secret exists only in the result. */
export async function issueKey(
  handle: Handle,
  { organizationId, mode, name, permission, expiresAt }: KeyDraft,
  now: number,
): Promise<{ key: ApiKey; secret: string }> {
  const secret = newKey(mode);
  const key: ApiKey = {
    id: newId('ak'),
    organizationId,
    mode,
    name,
    prefix: secret.slice(0, PREFIX_LENGTH),
    lastFour: secret.slice(-LAST_LENGTH),
    permission,
    expiresAt,
    lastUsedAt: null,
    createdAt: now,
    revokedAt: null,
    rolledAt: null,
  };
  await apiKeyStore(handle).insert(key, secret);
  return { key, secret };
}
