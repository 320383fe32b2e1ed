import { InvalidParameter } from '../../contract/contracts/violations.ts';

/**
 * Maximum number of values of `chain_id` and `chain` together; last page of a plain query; last page of an aggregation.
 * Source: document 2, "Limits".
 */
const MAX_CHAINS = 55;
const LAST_PAGE = 20;
const LAST_PAGE_AGGREGATED = 500;

/** Maximum number of NFTs over all owners of a request, per chain (Decision 218). */
const MAX_NFTS_OF_OWNERS = 1_000;

interface ChainQuery {
  readonly chain_id?: readonly number[];
  readonly chain?: readonly number[];
}

interface PageQuery {
  readonly page: number;
  readonly aggregate?: readonly string[];
  readonly group_by?: readonly string[];
}

/**
 * Chains named by an insights request, each once, in the request's order; empty when it names none.
 * @throws InvalidParameter for more values than the document allows.
 */
export function namedChains({ chain_id: ids = [], chain: older = [] }: ChainQuery): readonly number[] {
  if (ids.length + older.length > MAX_CHAINS) {
    throw new InvalidParameter('chain_id', `must have at most ${MAX_CHAINS} items, those of chain included`);
  }
  return [...new Set([...ids, ...older])];
}

/** Checks the page number. @throws InvalidParameter beyond the last page of the kind of query. */
export function checkPage({ page, aggregate, group_by: groupBy }: PageQuery): void {
  const isAggregated = aggregate !== undefined || groupBy !== undefined;
  const last = isAggregated ? LAST_PAGE_AGGREGATED : LAST_PAGE;
  if (page <= last) return;
  const hint = isAggregated ? '' : ' without aggregate and group_by';
  throw new InvalidParameter('page', `must be at most ${last}${hint}`);
}

/** Checks that a price request names a token. @throws InvalidParameter when it names none. */
export function checkTokensNamed(query: {
  readonly address?: readonly string[];
  readonly symbol?: readonly string[];
}): void {
  if (query.address === undefined && query.symbol === undefined) {
    throw new InvalidParameter('address', 'is required unless symbol is given');
  }
}

/**
 * Limits the NFTs of a request. @throws InvalidParameter when `limit` for each owner exceeds the total of one answer.
 */
export function checkNftsOfOwners({
  limit,
  owner_address: owners,
}: {
  readonly limit: number;
  readonly owner_address: readonly string[];
}): void {
  if (limit * owners.length <= MAX_NFTS_OF_OWNERS) return;
  const most = Math.floor(MAX_NFTS_OF_OWNERS / owners.length);
  throw new InvalidParameter('limit', `must be at most ${most} for ${owners.length} owners`);
}
