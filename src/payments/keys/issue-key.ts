import type { Handle } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import { type ApiKey, newKey, type Permission } from './api-key.ts';
import { apiKeyStore } from './api-key-store.ts';

/** How much of a key may be shown later: its first and its last characters. Decision 104. */
const PREFIX_LENGTH = 13;
const LAST_LENGTH = 4;

/** What a new key is to be. Times are UTC milliseconds. */
export interface KeyDraft extends Owner {
  readonly name: string;
  readonly permission: Permission;
  readonly expiresAt: number | null;
}

/** Makes a key and stores all but its secret, which is nowhere else than in what this resolves to. */
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
