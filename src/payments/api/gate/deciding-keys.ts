import type { Handle } from '#db/open.ts';
import type { ApiKey } from '../../keys/api-key.ts';
import { apiKeyStore } from '../../keys/api-key-store.ts';
import {
  mailEach,
  memberName,
  type NoticeScope,
  ownerEmails,
} from '../../notifications/store/owner-notices.ts';
import { organizationSettingsStore } from '../../store/organization-store.ts';
import type { Credential } from './authenticate.ts';
import { checkOwner } from './owner-only.ts';

/** Most new keys per hour and mode that are mailed, because each is a mail. */
const MAILED_PER_HOUR = 20;
const HOUR_MS = 3_600_000;

/**
 * Checks who makes a key whose holder can decide where money goes, and mails it to the owners in live mode (Decisions 413
 * and 417): an `admin` key, and a `write` key while the list of recipients is not locked. Call it before the key is stored.
 * @throws HttpError 403 insufficient_permissions for a member who is no owner, or whom a passkey has to confirm
 */
export async function checkDeciding(
  scope: NoticeScope,
  caller: Credential,
  { organizationId, mode, name, permission }: Pick<ApiKey, 'organizationId' | 'mode' | 'name' | 'permission'>,
): Promise<void> {
  const { handle, now } = scope;
  const owner = { organizationId, mode };
  if (permission === 'read') return;
  if (permission === 'write' && (await organizationSettingsStore(handle).find(owner)).recipientsLocked)
    return;
  checkOwner(caller);
  if (mode !== 'live') return;
  if ((await apiKeyStore(handle).countSince(owner, now - HOUR_MS)) >= MAILED_PER_HOUR) return;
  const key = { name, permission, by: await nameOf(handle, caller) };
  await mailEach(scope, owner, await ownerEmails(scope, organizationId), email => ({
    kind: 'key_created',
    email,
    key,
    createdAt: now,
  }));
}

async function nameOf(handle: Handle, { kind, id, organizationId }: Credential): Promise<string> {
  if (kind === 'member') return (await memberName(handle, { organizationId, id })) ?? id;
  return (await apiKeyStore(handle).find(organizationId, ['live', 'test'], id))?.name ?? id;
}
