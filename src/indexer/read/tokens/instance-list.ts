import type { Address } from 'viem';
import { bytesColumn, uintColumn, uintOf } from '#db/columns.ts';
import type { Dialect } from '#db/dialect.ts';
import type { Handle } from '#db/open.ts';
import type { InstanceKey, NftType } from '#evm/token-id.ts';
import { select } from '../../schema/select.ts';
import type { Page } from '../page.ts';

interface InstanceListQuery {
  token: Address;
  type: NftType;
  /** Only ids that this address holds. */
  holder?: Address | undefined;
  /** Only ids below this one. */
  before?: bigint | undefined;
  limit: number;
}

/** Sorts after the text of every id. */
const BEHIND_IDS = '~';

/** Ids of a token that have a holder, highest first. */
export async function instanceList(handle: Handle, query: InstanceListQuery): Promise<Page<InstanceKey>> {
  const { token, type, holder, before, limit } = query;
  const end = before === undefined ? BEHIND_IDS : uintColumn(before);
  const rows =
    type === 'ERC-1155' && holder === undefined
      ? await select({
          with: ownedIn(handle.dialect),
          computed: { token_id: ['uint256', 'token_id'] },
        }).rows(handle, 'from owned where token_id is not null limit ?', [
          ...[bytesColumn(token), end, bytesColumn(token)],
          ...[bytesColumn(token), bytesColumn(token)],
          limit + 1,
        ])
      : await ownedIds(handle, { ...query, end });
  const items = rows.slice(0, limit).map(row => ({ token, type, tokenId: uintOf(row.token_id) }));
  return { items, hasMore: rows.length > limit };
}

/** Tables in which each row is one id. */
const OWNED = {
  'ERC-721': { ids: select({ from: 'token_instances', columns: ['token_id'] }), owner: 'owner', only: '' },
  'ERC-1155': {
    ids: select({ from: 'token_balances', columns: ['token_id'] }),
    owner: 'holder',
    only: ` and token_id <> ''`,
  },
} as const;

function ownedIds(handle: Handle, query: InstanceListQuery & { end: string }) {
  const { token, type, holder, end, limit } = query;
  const { ids, owner, only } = OWNED[type];
  const { sql, bindings, order } = handle.dialect.keyRange({
    columns: holder === undefined ? ['token'] : [owner, 'token'],
    values: holder === undefined ? [bytesColumn(token)] : [bytesColumn(holder), bytesColumn(token)],
    keys: ['token_id'],
    below: [end],
    order: 'desc',
  });
  return ids.rows(handle, `where ${sql}${only} order by ${order} limit ?`, [...bindings, limit + 1]);
}

/** Recursive query that jumps from one id to the next by an index lookup, so the number of holders does not matter. */
function ownedIn({ indexedBy }: Dialect): string {
  const balances = `token_balances as b${indexedBy('token_balances_by_instance')}`;
  return `with recursive owned (token_id) as (
      select * from (select b.token_id from ${balances}
        where (b.token, b.token_id) < (?, ?) and b.token >= ? and b.token_id <> ''
        order by b.token desc, b.token_id desc limit 1) as found
      union all
      select (select b.token_id from ${balances}
        where (b.token, b.token_id) < (?, owned.token_id) and b.token >= ? and b.token_id <> ''
        order by b.token desc, b.token_id desc limit 1) from owned where owned.token_id is not null
    )`;
}
