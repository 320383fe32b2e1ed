import type { Tables } from 'knex/types/tables.js';
import type { Handle } from '../../db/open.ts';
import { execute, rowsOf, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Mode, Owner, SessionDefaults, Tier } from '../model/owner.ts';
import { allOf, type ListPage, type ListPageRequest, paged } from '../store/list-query.ts';
import { recordForm } from '../tables/record-form.ts';
import { select, selectWith } from '../tables/select.ts';
import { type ApiKey, hashOfKey } from './api-key.ts';

/** Resolution of `lastUsedAt`, in milliseconds, so that most requests write nothing. */
export const TOUCH_INTERVAL_MS = 60_000;

/** API keys. Only the hash of a secret is stored (Decision 104). Times are UTC milliseconds. */
export function apiKeyStore(handle: Handle) {
  return {
    async insert(key: ApiKey, secret: string): Promise<void> {
      await handle('api_keys').insert({ ...keyForm.rowOf(key), key_hash: hashOfKey(secret) });
    },

    /** The key with this secret, even when it is expired or revoked, with the tier and profile of its organization. */
    findBySecret: (secret: string): Promise<KeyHolder | undefined> =>
      holderOf(handle, { sql: 'key_hash = ?', bindings: [hashOfKey(secret)] }),

    async find(organizationId: string, modes: readonly Mode[], id: string): Promise<ApiKey | undefined> {
      const where = allOf([visible(organizationId, modes), { sql: 'id = ?', bindings: [id] }]);
      const [row] = await select({ from: 'api_keys', columns: ['*'] }).rows(
        handle,
        `where ${where.sql}`,
        where.bindings,
      );
      return row && keyForm.recordOf(row);
    },

    /** Keys of an organization in these modes, newest first. */
    list: (
      organizationId: string,
      modes: readonly Mode[],
      page: ListPageRequest,
    ): Promise<ListPage<ApiKey>> =>
      paged(
        handle,
        { table: 'api_keys', where: visible(organizationId, modes), order: 'created_at desc, id desc' },
        page,
        keyForm.recordOf,
      ),

    /** Records a use, at most once per minute. */
    async touch(id: string, now: number): Promise<void> {
      await execute(
        handle,
        'update api_keys set last_used_at = ? where id = ? and (last_used_at is null or last_used_at <= ?)',
        [now, id, now - TOUCH_INTERVAL_MS],
      );
    },

    /** Returns false when the key was already revoked. */
    async revoke(id: string, now: number): Promise<boolean> {
      return (await handle('api_keys').where({ id, revoked_at: null }).update({ revoked_at: now })) === 1;
    },

    /** Names of at most `limit` keys of both modes, the newest first, with those that were revoked. */
    names: (organizationId: string, limit: number) =>
      select({ from: 'api_keys', columns: ['id', 'name', 'created_at', 'revoked_at'] }).rows(
        handle,
        'where organization_id = ? order by created_at desc, id limit ?',
        [organizationId, limit],
      ),

    /** Number of keys that were created since a time (UTC milliseconds), revoked ones too. */
    async countSince({ organizationId, mode }: Owner, since: number): Promise<number> {
      const rows = await select({ from: 'api_keys', columns: ['id'] }).rows(
        handle,
        'where organization_id = ? and mode = ? and created_at > ?',
        [organizationId, mode, since],
      );
      return rows.length;
    },

    /** Revokes the keys with this name. */
    async revokeNamed(
      { organizationId, mode, name }: Owner & Pick<ApiKey, 'name'>,
      now: number,
    ): Promise<void> {
      await execute(
        handle,
        'update api_keys set revoked_at = ? where organization_id = ? and mode = ? and name = ? and revoked_at is null',
        [now, organizationId, mode, name],
      );
    },

    /**
     * Marks a key as rolled. It then expires at `until`, or at its own earlier expiry. Returns false when it was
     * already rolled.
     */
    async roll(id: string, until: number, now: number): Promise<boolean> {
      const sql = `update api_keys set rolled_at = ?,
                     expires_at = case when expires_at < ? then expires_at else ? end
                   where id = ? and rolled_at is null`;
      return (await execute(handle, sql, [now, until, until, id])) === 1;
    },

    /** True when the key's mode has another key with the permission `admin` that is not expired, revoked or rolled. */
    async hasOtherAdmin({ id, organizationId, mode }: ApiKey, now: number): Promise<boolean> {
      const rows = await rowsOf(
        handle,
        `select id from api_keys where organization_id = ? and mode = ? and id <> ? and permission = 'admin'
         and revoked_at is null and rolled_at is null and (expires_at is null or expires_at > ?) limit 1`,
        [organizationId, mode, id, now],
      );
      return rows.length > 0;
    },
  };
}

/** A key with the tier and profile of its organization. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly tier: Tier;
  readonly merchant: SessionDefaults;
}

async function holderOf(handle: Handle, where: Sql): Promise<KeyHolder | undefined> {
  // The key is selected on its own first. SQLite plans a join with a parameter again each time, which takes six times
  // as long as running it.
  const [row] = await selectWith<{ k: Tables['api_keys'] }>()({
    with: `with k as materialized (select * from api_keys where ${where.sql})`,
    from: 'k',
    join: ['organizations o on o.id = k.organization_id'],
    leftJoin: ['organization_settings s on s.organization_id = k.organization_id and s.mode = k.mode'],
    columns: ['k.*', 'o.tier', 's.logo_url'],
    computed: {
      organization_name: ['text', 'coalesce(s.name, o.name)'],
      tolerance_bps: ['count', 'coalesce(s.tolerance_bps, 0)'],
    },
  }).rows(handle, '', where.bindings);
  if (row === undefined) return undefined;
  const merchant = {
    name: row.organization_name,
    logoUrl: row.logo_url,
    toleranceBps: row.tolerance_bps,
  };
  return { key: keyForm.recordOf(row), tier: row.tier, merchant };
}

function visible(organizationId: string, modes: readonly Mode[]): Sql {
  if (modes.length === 0) return { sql: '1 = 0', bindings: [] };
  return {
    sql: `organization_id = ? and mode in (${placeholders(modes.length)})`,
    bindings: [organizationId, ...modes],
  };
}

const keyForm = recordForm<ApiKey>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  name: 'plain',
  prefix: 'plain',
  lastFour: 'plain',
  permission: 'plain',
  expiresAt: 'plain',
  lastUsedAt: 'plain',
  createdAt: 'plain',
  revokedAt: 'plain',
  rolledAt: 'plain',
});
