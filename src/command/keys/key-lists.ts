import type { Db } from '#db/open.ts';
import { type ApiKey, isActiveKey } from '#payments/keys/api-key.ts';
import { apiKeyStore } from '#payments/keys/api-key-store.ts';
import { organizationStore } from '#payments/store/organization-store.ts';
import { namedOrganization, type Printed } from './command-line.ts';

const PAGE = 100;

/** One line per organization: id, tier and name. */
export async function listOrganizations(db: Db): Promise<Printed> {
  const all = await organizationStore(db).list();
  return { lines: all.map(({ id, tier, name }) => [id, tier, name].join('  ')) };
}

/** One line per key of an organization, in any mode. `now` is UTC milliseconds. */
export async function listKeys(db: Db, nameOrId: string, now: number): Promise<Printed> {
  const { id } = await namedOrganization(db, nameOrId);
  const keys: ApiKey[] = [];
  for (let page = 1, hasMore = true; hasMore; page++) {
    const part = await apiKeyStore(db).list(id, ['live', 'test'], { page, limit: PAGE });
    keys.push(...part.data);
    hasMore = part.hasMore;
  }
  return { lines: keys.map(key => described(key, now)) };
}

function described(key: ApiKey, now: number): string {
  const { id, mode, permission, prefix, lastFour, expiresAt, revokedAt, lastUsedAt, name } = key;
  const end =
    expiresAt === null ? '' : ` ${isActiveKey(key, now) ? 'until' : 'since'} ${timeText(expiresAt)}`;
  const active = isActiveKey(key, now) ? `active${end}` : `expired${end}`;
  const state = revokedAt === null ? active : `revoked since ${timeText(revokedAt)}`;
  const use = lastUsedAt === null ? 'never used' : `last used ${timeText(lastUsedAt)}`;
  return [id, mode, permission.padEnd(5), `${prefix}…${lastFour}`, state, use, name].join('  ');
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
