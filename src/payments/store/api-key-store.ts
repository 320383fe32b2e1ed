import { exactInteger } from '../../db/columns.ts';
import { placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf, type Sql } from '../../db/query.ts';
import type { ApiKey, Permission } from '../model/api-key.ts';
import { hashOfKey } from '../model/key-format.ts';
import type { Mode, Tier } from '../model/owner.ts';
import { allOf, type Page, type Paged, paged } from './paging.ts';
import { insertRow } from './rows.ts';

/** How exact `lastUsedAt` is, in milliseconds: not every request shall write. */
const TOUCH_INTERVAL_MS = 60_000;

/** The API keys; of a secret only its hash is kept. Times are UTC milliseconds. */
export interface ApiKeyStore {
  insert(key: ApiKey, secret: string): Promise<void>;
  /** The key behind a secret, also one that is expired or revoked, and what its organization may ask for. */
  findBySecret(secret: string): Promise<{ key: ApiKey; tier: Tier } | undefined>;
  find(organizationId: string, modes: readonly Mode[], id: string): Promise<ApiKey | undefined>;
  /** The newest first. */
  list(organizationId: string, modes: readonly Mode[], page: Page): Promise<Paged<ApiKey>>;
  /** Notes a use, at most once a minute. */
  touch(id: string, now: number): Promise<void>;
  /** False when it was revoked before. */
  revoke(id: string, now: number): Promise<boolean>;
  /** Lets a key end at a time, unless it ends before. */
  expireAt(id: string, at: number): Promise<void>;
  /** How many keys that are neither expired nor revoked have the permission `admin` in a mode. */
  countActiveAdmins(organizationId: string, mode: Mode, now: number): Promise<number>;
}

export function apiKeyStore(handle: Handle): ApiKeyStore {
  return {
    insert: (key, secret) =>
      insertRow(handle, 'api_keys', {
        id: key.id,
        organization_id: key.organizationId,
        mode: key.mode,
        name: key.name,
        key_hash: hashOfKey(secret),
        prefix: key.prefix,
        last_four: key.lastFour,
        permission: key.permission,
        expires_at: key.expiresAt,
        last_used_at: key.lastUsedAt,
        created_at: key.createdAt,
        revoked_at: key.revokedAt,
      }),

    async findBySecret(secret) {
      const [row] = await rowsOf<ApiKeyRow & { tier: Tier }>(
        handle,
        `select api_keys.*, organizations.tier from api_keys
         join organizations on organizations.id = api_keys.organization_id where key_hash = ?`,
        [hashOfKey(secret)],
      );
      return row && { key: apiKeyOf(row), tier: row.tier };
    },

    async find(organizationId, modes, id) {
      const where = allOf([visible(organizationId, modes), { sql: 'id = ?', bindings: [id] }]);
      const [row] = await rowsOf<ApiKeyRow>(
        handle,
        `select * from api_keys where ${where.sql}`,
        where.bindings,
      );
      return row && apiKeyOf(row);
    },

    list: (organizationId, modes, page) =>
      paged(
        handle,
        { table: 'api_keys', where: visible(organizationId, modes), order: 'created_at desc, id desc' },
        page,
        apiKeyOf,
      ),

    async touch(id, now) {
      await execute(
        handle,
        'update api_keys set last_used_at = ? where id = ? and (last_used_at is null or last_used_at <= ?)',
        [now, id, now - TOUCH_INTERVAL_MS],
      );
    },

    async revoke(id, now) {
      const sql = 'update api_keys set revoked_at = ? where id = ? and revoked_at is null';
      return (await execute(handle, sql, [now, id])) === 1;
    },

    async expireAt(id, at) {
      const sql =
        'update api_keys set expires_at = ? where id = ? and (expires_at is null or expires_at > ?)';
      await execute(handle, sql, [at, id, at]);
    },

    async countActiveAdmins(organizationId, mode, now) {
      const [row] = await rowsOf<{ total: number }>(
        handle,
        `select count(*) as total from api_keys where organization_id = ? and mode = ? and permission = 'admin'
         and revoked_at is null and (expires_at is null or expires_at > ?)`,
        [organizationId, mode, now],
      );
      return exactInteger(row?.total);
    },
  };
}

function visible(organizationId: string, modes: readonly Mode[]): Sql {
  if (modes.length === 0) return { sql: '1 = 0', bindings: [] };
  return {
    sql: `organization_id = ? and mode in (${placeholders(modes.length)})`,
    bindings: [organizationId, ...modes],
  };
}

interface ApiKeyRow {
  id: string;
  organization_id: string;
  mode: Mode;
  name: string;
  prefix: string;
  last_four: string;
  permission: Permission;
  expires_at: number | null;
  last_used_at: number | null;
  created_at: number;
  revoked_at: number | null;
}

function apiKeyOf(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    organizationId: row.organization_id,
    mode: row.mode,
    name: row.name,
    prefix: row.prefix,
    lastFour: row.last_four,
    permission: row.permission,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
  };
}
