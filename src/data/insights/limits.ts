import { InvalidParameter } from '../../contract/contracts/violations.ts';

/** Most values of `chain_id` and `chain` together, highest page of a plain query and of an aggregation. Document 2, "Limits". */
const MOST_CHAINS = 55;
const LAST_PAGE = 20;
const LAST_PAGE_AGGREGATED = 500;

/** Most NFTs of all owners of a request, on each chain. Decision 218. */
const MOST_NFTS_OF_OWNERS = 1_000;

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
 * The chains that an insights request names, each once, in the order it names them; none when it names none.
 * @throws InvalidParameter when there are more values than the document allows.
 */
export function namedChains({ chain_id: ids = [], chain: older = [] }: ChainQuery): readonly number[] {
  if (ids.length + older.length > MOST_CHAINS) {
    throw new InvalidParameter('chain_id', `must have at most ${MOST_CHAINS} items, those of chain included`);
  }
  return [...new Set([...ids, ...older])];
}

/** @throws InvalidParameter when a page lies further back than an answer of its kind goes. */
export function checkPage({ page, aggregate, group_by: groupBy }: PageQuery): void {
  const isAggregated = aggregate !== undefined || groupBy !== undefined;
  const last = isAggregated ? LAST_PAGE_AGGREGATED : LAST_PAGE;
  if (page <= last) return;
  const hint = isAggregated ? '' : ' without aggregate and group_by';
  throw new InvalidParameter('page', `must be at most ${last}${hint}`);
}

/** @throws InvalidParameter when a request for prices names no token. */
export function checkTokensNamed(query: {
  readonly address?: readonly string[];
  readonly symbol?: readonly string[];
}): void {
  if (query.address === undefined && query.symbol === undefined) {
    throw new InvalidParameter('address', 'is required unless symbol is given');
  }
}

/** @throws InvalidParameter when the owners of a request for NFTs may have more than one answer describes. */
export function checkNftsOfOwners({
  limit,
  owner_address: owners,
}: {
  readonly limit: number;
  readonly owner_address: readonly string[];
}): void {
  if (limit * owners.length <= MOST_NFTS_OF_OWNERS) return;
  const most = Math.floor(MOST_NFTS_OF_OWNERS / owners.length);
  throw new InvalidParameter('limit', `must be at most ${most} for ${owners.length} owners`);
}
