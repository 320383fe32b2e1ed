import { jsonColumn, jsonOf } from '#db/columns.ts';
import type { Handle } from '#db/open.ts';
import { execute } from '#db/query.ts';
import { select } from '../tables/select.ts';
import { hashOfToken } from './sign-in-address.ts';

/** Passkey of a member. Times are UTC milliseconds. */
export interface Passkey {
  /** Id of the credential, in base64url. */
  readonly id: string;
  readonly memberId: string;
  /** For people. */
  readonly name: string;
  readonly publicKey: Buffer;
  /** Uses that the authenticator reports; 0 for those that do not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** Passkeys of members, and the challenges that they have answered (Decision 417). */
export function passkeyStore(handle: Handle) {
  const passkeys = async (where: string, binding: string): Promise<Passkey[]> => {
    const rows = await select({ from: 'passkeys', columns: ['*'] }).rows(
      handle,
      `where ${where} = ? order by created_at, id`,
      [binding],
    );
    return rows.map(row => ({
      id: row.id,
      memberId: row.member_id,
      name: row.name,
      publicKey: row.public_key,
      counter: row.counter,
      transports: jsonOf<string[]>(row.transports),
      createdAt: row.created_at,
      lastUsedAt: row.last_used_at,
    }));
  };
  return {
    /** Passkeys of a member, oldest first. */
    ofMember: (memberId: string): Promise<Passkey[]> => passkeys('member_id', memberId),

    async find(id: string): Promise<Passkey | undefined> {
      const [passkey] = await passkeys('id', id);
      return passkey;
    },

    async insert({ memberId, publicKey, createdAt, lastUsedAt, ...rest }: Passkey): Promise<void> {
      await handle('passkeys').insert({
        ...rest,
        member_id: memberId,
        public_key: publicKey,
        transports: jsonColumn(rest.transports),
        created_at: createdAt,
        last_used_at: lastUsedAt,
      });
    },

    async noteUse(id: string, counter: number, now: number): Promise<void> {
      await execute(handle, 'update passkeys set counter = ?, last_used_at = ? where id = ?', [
        counter,
        now,
        id,
      ]);
    },

    async remove(id: string): Promise<void> {
      await execute(handle, 'delete from passkeys where id = ?', [id]);
    },

    /** Notes that a challenge was answered. Returns false when it was before. */
    async spend(challenge: string, until: number): Promise<boolean> {
      const sql =
        'insert into spent_challenges (challenge_hash, expires_at) values (?, ?) on conflict do nothing';
      return (await execute(handle, sql, [hashOfToken(challenge), until])) === 1;
    },

    /** Forgets challenges that expired at `now` or earlier. Resolves to their number. */
    removeExpired: (now: number): Promise<number> =>
      execute(handle, 'delete from spent_challenges where expires_at <= ?', [now]),
  };
}
