import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';
import type { Member } from './member.ts';

/** Members of organizations. A removed one stays stored, because records name it, but is found no more. */
export function memberStore(handle: Handle) {
  const members = async (where: string, bindings: readonly string[]): Promise<Member[]> => {
    const rows = await select({ from: 'members', columns: ['*'] }).rows(
      handle,
      `where ${where} and removed_at is null order by created_at, id`,
      bindings,
    );
    return rows.map(memberForm.recordOf);
  };
  return {
    async insert(member: Member): Promise<void> {
      await handle('members').insert(memberForm.rowOf(member));
    },

    async find(organizationId: string, id: string): Promise<Member | undefined> {
      const [member] = await members('organization_id = ? and id = ?', [organizationId, id]);
      return member;
    },

    /** Members of an organization, oldest first. */
    list: (organizationId: string): Promise<Member[]> => members('organization_id = ?', [organizationId]),

    /** Names of at most `limit` members, the newest first, with those that were removed. */
    names: (organizationId: string, limit: number) =>
      select({ from: 'members', columns: ['id', 'name', 'created_at', 'removed_at'] }).rows(
        handle,
        'where organization_id = ? order by created_at desc, id limit ?',
        [organizationId, limit],
      ),

    /** Owners of an organization, oldest first. */
    owners: (organizationId: string): Promise<Member[]> =>
      members("organization_id = ? and role = 'owner'", [organizationId]),

    /** Members of all organizations with an e-mail address, which is in lower case. */
    withEmail: (email: string): Promise<Member[]> => members('email = ?', [email]),

    async save({ id, name, role }: Pick<Member, 'id' | 'name' | 'role'>): Promise<void> {
      await execute(handle, 'update members set name = ?, role = ? where id = ?', [name, role, id]);
    },

    /** Removes a member with all that signs the member in. */
    async remove(id: string, now: number): Promise<void> {
      await execute(handle, 'update members set removed_at = ?, email = null where id = ?', [now, id]);
      for (const table of ['member_sessions', 'sign_in_addresses', 'passkeys'])
        await execute(handle, `delete from ${table} where member_id = ?`, [id]);
    },
  };
}

export const memberForm = recordForm<Member>({
  id: 'plain',
  organizationId: 'plain',
  name: 'plain',
  email: 'plain',
  role: 'plain',
  createdAt: 'plain',
  removedAt: 'plain',
});
