import type { Tables } from 'knex/types/tables.js';
import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import type { Member } from '../../members/member.ts';
import { memberForm } from '../../members/member-store.ts';
import { hashOfToken } from '../../members/sign-in-address.ts';
import type { Mode, SessionDefaults, Tier } from '../../model/owner.ts';
import { recordForm } from '../../tables/record-form.ts';
import { select, selectWith } from '../../tables/select.ts';

/** Sign-in of a member as stored, without its token. Times are UTC milliseconds. */
export interface StoredSignIn {
  readonly id: string;
  readonly memberId: string;
  readonly mode: Mode;
  /** IP address, and `User-Agent` of the browser, that opened it. */
  readonly address: string;
  readonly userAgent: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Time at which a passkey last confirmed the member. */
  readonly confirmedAt: number | null;
}

/** A sign-in with its member, and the organization in the sign-in's mode. */
export interface SignInHolder {
  readonly signIn: StoredSignIn;
  readonly member: Member;
  readonly hasPasskey: boolean;
  readonly tier: Tier;
  readonly merchant: SessionDefaults;
}

/** Store of the dashboard's sign-ins. Only the hash of a token is stored (Decision 245). */
export function signInStore(handle: Handle) {
  return {
    async insert(token: string, signIn: StoredSignIn): Promise<void> {
      await handle('member_sessions').insert({
        ...signInForm.rowOf(signIn),
        token_hash: hashOfToken(token),
      });
    },

    /** Sign-in of a token, unless it has expired or its member was removed. */
    async find(token: string, now: number): Promise<SignInHolder | undefined> {
      // Selected on its own first, like a key: SQLite would plan a join with a parameter again each time.
      const [row] = await selectWith<{ s: Tables['member_sessions'] }>()({
        with: 'with s as materialized (select * from member_sessions where token_hash = ? and expires_at > ?)',
        from: 's',
        join: [
          'members m on m.id = s.member_id and m.removed_at is null',
          'organizations o on o.id = m.organization_id',
        ],
        leftJoin: ['organization_settings t on t.organization_id = m.organization_id and t.mode = s.mode'],
        columns: [
          's.*',
          'm.organization_id',
          'm.name',
          'm.email',
          'm.role',
          'm.removed_at',
          'o.tier',
          't.logo_url',
        ],
        computed: {
          member_since: ['time', 'm.created_at'],
          organization_name: ['text', 'coalesce(t.name, o.name)'],
          tolerance_bps: ['count', 'coalesce(t.tolerance_bps, 0)'],
          passkeys: ['count', '(select count(*) from passkeys p where p.member_id = s.member_id)'],
        },
      }).rows(handle, '', [hashOfToken(token), now]);
      return (
        row && {
          signIn: signInForm.recordOf(row),
          member: memberForm.recordOf({ ...row, id: row.member_id, created_at: row.member_since }),
          hasPasskey: row.passkeys > 0,
          tier: row.tier,
          merchant: {
            name: row.organization_name,
            logoUrl: row.logo_url,
            toleranceBps: row.tolerance_bps,
          },
        }
      );
    },

    /** Open sign-ins of a member, or of all members of an organization, newest first. */
    async open(
      of: { readonly memberId: string } | { readonly organizationId: string },
      now: number,
    ): Promise<{ readonly signIn: StoredSignIn; readonly member: Member }[]> {
      const [column, value] =
        'memberId' in of ? ['m.id', of.memberId] : ['m.organization_id', of.organizationId];
      const rows = await select({
        from: 'member_sessions s',
        join: ['members m on m.id = s.member_id'],
        columns: ['s.*', 'm.organization_id', 'm.name', 'm.email', 'm.role', 'm.removed_at'],
        computed: { member_since: ['time', 'm.created_at'] },
      }).rows(handle, `where ${column} = ? and s.expires_at > ? order by s.created_at desc, s.id`, [
        value,
        now,
      ]);
      return rows.map(row => ({
        signIn: signInForm.recordOf(row),
        member: memberForm.recordOf({ ...row, id: row.member_id, created_at: row.member_since }),
      }));
    },

    /** Removes all sign-ins of a member except the newest `kept`. */
    async removeOldest(memberId: string, kept: number): Promise<void> {
      await execute(
        handle,
        `delete from member_sessions where member_id = ? and token_hash not in (
           select token_hash from member_sessions where member_id = ?
           order by created_at desc, token_hash limit ?
         )`,
        [memberId, memberId, kept],
      );
    },

    async confirm(id: string, now: number): Promise<void> {
      await execute(handle, 'update member_sessions set confirmed_at = ? where id = ?', [now, id]);
    },

    async setMode(id: string, mode: Mode): Promise<void> {
      await execute(handle, 'update member_sessions set mode = ? where id = ?', [mode, id]);
    },

    async removeByToken(token: string): Promise<void> {
      await execute(handle, 'delete from member_sessions where token_hash = ?', [hashOfToken(token)]);
    },

    async remove(id: string): Promise<void> {
      await execute(handle, 'delete from member_sessions where id = ?', [id]);
    },

    async removeOfMember(memberId: string): Promise<void> {
      await execute(handle, 'delete from member_sessions where member_id = ?', [memberId]);
    },

    /** Removes at most `limit` sign-ins that expired at `before` or earlier. Resolves to their number. */
    removeExpired: ({ before, limit }: { before: number; limit: number }): Promise<number> =>
      execute(
        handle,
        `delete from member_sessions where id in (
           select id from member_sessions where expires_at <= ? order by expires_at limit ?
         )`,
        [before, limit],
      ),
  };
}

const signInForm = recordForm<StoredSignIn>({
  id: 'plain',
  memberId: 'plain',
  mode: 'plain',
  address: 'plain',
  userAgent: 'plain',
  createdAt: 'plain',
  expiresAt: 'plain',
  confirmedAt: 'plain',
});
