import type { Binding } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import { type ChainAddress, newNonce, type Recipient } from '../model/recipient.ts';
import {
  allOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  ownedBy,
  ownedRow,
  ownersOf,
  paged,
} from '../store/list-query.ts';
import { recordForm } from '../tables/record-form.ts';
import { select } from '../tables/select.ts';

/** Addresses that organizations are paid at. Each has one owner per chain (Decision 136). */
export function recipientStore(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<Recipient[]> => {
    const rows = await select({ from: 'recipients', columns: ['*'] }).rows(handle, `where ${sql}`, bindings);
    return rows.map(recipientForm.recordOf);
  };

  const allAt = ({ chainId, address }: ChainAddress) =>
    where('chain_id = ? and address = ? order by created_at, id', [chainId, address]);

  const at = async (owner: Owner, { chainId, address }: ChainAddress) => {
    const { sql, bindings } = ownedBy(owner);
    return (await where(`chain_id = ? and address = ? and ${sql}`, [chainId, address, ...bindings]))[0];
  };

  const ownerOf = async ({ chainId, address }: ChainAddress) =>
    (await where('chain_id = ? and address = ? and is_owner', [chainId, address]))[0];

  return {
    /** The recipient of an organization at an address; undefined when the organization never named it. */
    at,
    /** Recipients of all organizations at an address, in the order in which they named it. */
    allAt,
    /** Undefined when no organization named the address. */
    ownerOf,

    /** Owners of many addresses on a chain, by address. */
    async ownersOf(chainId: number, addresses: readonly string[]): Promise<ReadonlyMap<string, Owner>> {
      const asked = [...new Set(addresses)];
      if (asked.length === 0) return new Map();
      const found = await where(`chain_id = ? and address in (${placeholders(asked.length)}) and is_owner`, [
        chainId,
        ...asked,
      ]);
      return new Map(
        found.map(({ address, organizationId, mode }) => [address, { organizationId, mode }] as const),
      );
    },

    /**
     * Up to `limit` addresses on a chain that these organizations own: the newest of each, then the second newest of each,
     * and so on.
     */
    async ownedBy(chainId: number, organizations: readonly Owner[], limit: number): Promise<string[]> {
      if (organizations.length === 0) return [];
      const owners = ownersOf(organizations);
      const rows = await select({ from: 'recipients', columns: ['recipients.address'] }).rows(
        handle,
        `join (
           select id, row_number() over (partition by organization_id, mode order by created_at desc, id) as turn
           from recipients where chain_id = ? and is_owner and (organization_id, mode) in ${owners.sql}
         ) turns on turns.id = recipients.id order by turn, recipients.id limit ${BOUND}`,
        [chainId, ...owners.bindings, limit],
      );
      return rows.map(({ address }) => address);
    },

    /**
     * The recipient of an organization at an address; inserted when it is new. The first organization that names an
     * address on a chain owns it. Needs a transaction.
     */
    async name(owner: Owner, chainAddress: ChainAddress, now: number): Promise<Recipient> {
      const known = await at(owner, chainAddress);
      if (known !== undefined) return known;
      const isOwner = (await ownerOf(chainAddress)) === undefined;
      const fresh = newRecipient({ ...owner, ...chainAddress }, isOwner, now);
      await insertUnlessTaken(handle, fresh);
      // Outside a transaction another organization, or another request of this one, may have been first.
      if (isOwner) await insertUnlessTaken(handle, { ...fresh, isOwner: false });
      const named = await at(owner, chainAddress);
      if (named === undefined) throw new Error(`Recipient ${chainAddress.address} could not be inserted.`);
      return named;
    },

    async find(owner: Owner, id: string): Promise<Recipient | undefined> {
      const { sql, bindings } = ownedRow(owner, id);
      return (await where(sql, bindings))[0];
    },

    /** Recipients of an owner, newest first. */
    list(
      owner: Owner,
      { chainId }: { readonly chainId?: number | undefined },
      page: ListPageRequest,
    ): Promise<ListPage<Recipient>> {
      const condition = allOf([ownedBy(owner), optionalCondition('chain_id = ?', chainId)]);
      const listing = { table: 'recipients', where: condition, order: 'created_at desc, id desc' } as const;
      return paged(handle, listing, page, recipientForm.recordOf);
    },

    /** Number of recipients that an owner named since a time, in UTC milliseconds. */
    async countSince(owner: Owner, since: number): Promise<number> {
      const { sql, bindings } = ownedBy(owner);
      const rows = await where(`${sql} and created_at > ?`, [...bindings, since]);
      return rows.length;
    },

    /** Recipients of one or all organizations, by chain and address. For the operator. */
    everybodys({
      organizationId,
      chainId,
    }: {
      readonly organizationId: string | undefined;
      readonly chainId: number | undefined;
    }): Promise<Recipient[]> {
      const { sql, bindings } = allOf([
        optionalCondition('organization_id = ?', organizationId),
        optionalCondition('chain_id = ?', chainId),
      ]);
      return where(`${sql} order by chain_id, address, created_at, id`, bindings);
    },

    /** Replaces the nonce, which invalidates signatures of the former text. */
    async renewNonce(id: string, now: number): Promise<void> {
      await handle('recipients').where({ id }).update({ nonce: newNonce(), nonce_issued_at: now });
    },
  };
}

function newRecipient(
  { organizationId, mode, chainId, address }: Owner & ChainAddress,
  isOwner: boolean,
  now: number,
): Recipient {
  return {
    id: newId('rcp'),
    organizationId,
    mode,
    chainId,
    address,
    isOwner,
    proof: null,
    provenAt: null,
    nonce: newNonce(),
    nonceIssuedAt: now,
    createdAt: now,
  };
}

/**
 * With `on conflict`, PostgreSQL reports a concurrent insert as a conflict, and the transaction is retried. A violated
 * index would end the transaction.
 */
async function insertUnlessTaken(handle: Handle, recipient: Recipient): Promise<void> {
  await handle('recipients').insert(recipientForm.rowOf(recipient)).onConflict().ignore();
}

const recipientForm = recordForm<Recipient>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  chainId: 'plain',
  address: 'plain',
  isOwner: 'boolean',
  proof: 'plain',
  provenAt: 'plain',
  nonce: 'plain',
  nonceIssuedAt: 'plain',
  createdAt: 'plain',
});
