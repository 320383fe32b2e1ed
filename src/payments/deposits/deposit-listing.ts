import type { Binding } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { BOUND, type Sql } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import type { Owner } from '../model/owner.ts';
import type { DepositAddress } from '../model/recipient.ts';
import {
  allOf,
  countOf,
  type ListPage,
  type ListPageRequest,
  optionalCondition,
  ownedBy,
  paged,
} from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import { depositAddressForm } from './deposit-address-store.ts';

/** Filters of deposit addresses. `from` (inclusive) and `to` (exclusive) are creation times in UTC milliseconds. */
export interface DepositFilters {
  readonly chainId?: number | undefined;
  readonly tokenAddress?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly recipientAddress?: string | undefined;
  readonly unswept?: boolean | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** State of an address. Times are UTC milliseconds. */
export interface DepositState {
  /** True while its session can be paid. Tools sweep it only afterwards (Decision 392). */
  readonly isOpen: boolean;
  /** End of its session; null while that is open. */
  readonly endedAt: number | null;
  /** Next look at it, apart from the blocks that are read anyway; null for none. */
  readonly nextLookAt: number | null;
}

/** Addresses of a chain and, unless it is undefined, of a recipient. */
interface EndedSearch {
  readonly chainId: number;
  readonly recipient: string | undefined;
  /** True for addresses, too, on which no money is known. */
  readonly areAll: boolean;
}

const HAS_ENDED = `not exists (
  select 1 from checkout_sessions s where s.id = deposit_addresses.session_id and s.status = 'active'
)`;
/** Condition of the partial index of addresses with money left. */
const IS_UNSWEPT = 'amount_received > amount_swept';

/** Deposit addresses of owners, for the API. */
export type DepositListing = ReturnType<typeof depositListing>;

export function depositListing(handle: Handle) {
  const where = async (sql: string, bindings: readonly Binding[]): Promise<DepositAddress[]> => {
    const rows = await select({ from: 'deposit_addresses', columns: ['*'] }).rows(
      handle,
      `where ${sql}`,
      bindings,
    );
    return rows.map(depositAddressForm.recordOf);
  };

  return {
    async find(owner: Owner, address: string): Promise<DepositAddress | undefined> {
      const { sql, bindings } = ownedBy(owner);
      return (await where(`${sql} and address = ?`, [...bindings, address.toLowerCase()]))[0];
    },

    /** Newest first. */
    list(owner: Owner, filters: DepositFilters, page: ListPageRequest): Promise<ListPage<DepositAddress>> {
      const listing = {
        table: 'deposit_addresses',
        key: 'address',
        where: matching(owner, filters),
        order: 'created_at desc, address desc',
      } as const;
      return paged(handle, listing, page, depositAddressForm.recordOf);
    },

    count: (owner: Owner, filters: DepositFilters): Promise<number> =>
      countOf(handle, 'deposit_addresses', matching(owner, filters)),

    /** Up to `limit` addresses, newest first. Continues after a given one, or begins with the newest. */
    export(owner: Owner, filters: DepositFilters, limit: number, after?: DepositAddress) {
      const { sql, bindings } = allOf([
        matching(owner, filters),
        after && { sql: '(created_at, address) < (?, ?)', bindings: [after.createdAt, after.address] },
      ]);
      return where(`${sql} order by created_at desc, address desc limit ${BOUND}`, [...bindings, limit]);
    },

    /** States of addresses, by address. */
    async statesOf(addresses: readonly DepositAddress[]): Promise<ReadonlyMap<string, DepositState>> {
      if (addresses.length === 0) return new Map();
      const rows = await select({
        from: 'deposit_addresses d',
        leftJoin: ['checkout_sessions s on s.id = d.session_id'],
        columns: ['d.address', 's.status', 'd.next_look_at'],
        computed: { ended: ['time?', 'coalesce(s.ended_at, d.ended_at)'] },
      }).rows(
        handle,
        `where d.address in (${placeholders(addresses.length)})`,
        addresses.map(({ address }) => address),
      );
      return new Map(
        rows.map(({ address, status, ended, next_look_at: nextLookAt }) => [
          address,
          // A session that was deleted had ended.
          { isOpen: status === 'active', endedAt: ended, nextLookAt },
        ]),
      );
    },

    /** Those of many addresses that an owner has on a chain, the oldest first. */
    async named(owner: Owner, chainId: number, addresses: readonly string[]): Promise<DepositAddress[]> {
      const { sql, bindings } = matching(owner, { chainId });
      const names = addresses.map(address => address.toLowerCase());
      return where(`${sql} and address in (${placeholders(names.length)}) order by created_at, address`, [
        ...bindings,
        ...names,
      ]);
    },

    /** Addresses of ended sessions of all owners, the oldest first. Continues after a given one. */
    ended(
      { chainId, recipient, areAll }: EndedSearch,
      limit: number,
      after?: DepositAddress,
    ): Promise<DepositAddress[]> {
      const { sql, bindings } = allOf([
        { sql: 'chain_id = ?', bindings: [chainId] },
        optionalCondition('recipient_address = ?', recipient?.toLowerCase()),
        areAll ? undefined : { sql: IS_UNSWEPT, bindings: [] },
        { sql: HAS_ENDED, bindings: [] },
        after && { sql: '(created_at, address) > (?, ?)', bindings: [after.createdAt, after.address] },
      ]);
      return where(`${sql} order by created_at, address limit ${BOUND}`, [...bindings, limit]);
    },

    /** Addresses of ended sessions with money left, the oldest first. Continues after a given one. */
    sweepable(
      owner: Owner,
      chainId: number,
      limit: number,
      after?: DepositAddress,
    ): Promise<DepositAddress[]> {
      const { sql, bindings } = allOf([
        matching(owner, { chainId, unswept: true }),
        after && { sql: '(created_at, address) > (?, ?)', bindings: [after.createdAt, after.address] },
      ]);
      return where(`${sql} and ${HAS_ENDED} order by created_at, address limit ${BOUND}`, [
        ...bindings,
        limit,
      ]);
    },
  };
}

function matching(
  owner: Owner,
  { chainId, tokenAddress, sessionId, recipientAddress, unswept, from, to }: DepositFilters,
): Sql {
  return allOf([
    ownedBy(owner),
    optionalCondition('chain_id = ?', chainId),
    optionalCondition('token_address = ?', tokenAddress?.toLowerCase()),
    optionalCondition('session_id = ?', sessionId),
    optionalCondition('recipient_address = ?', recipientAddress?.toLowerCase()),
    unswept === undefined ? undefined : { sql: unswept ? IS_UNSWEPT : `not (${IS_UNSWEPT})`, bindings: [] },
    optionalCondition('created_at >= ?', from),
    optionalCondition('created_at < ?', to),
  ]);
}
