import type { InsightsSchemas } from '../../contract/contracts/insights.ts';
import type { Caller } from '../../contract/contracts/operations.ts';
import { inBalanceOrder } from '../backends/port/balance-order.ts';
import type { InsightsRequestOf } from '../backends/port/insights-backend.ts';
import { checkNftsOfOwners } from './limits.ts';
import { byChain, distinctLowerCase, mayStillArrive } from './record-answerers.ts';
import { chainsAskedFor } from './select-chains.ts';
import type { AskInsights, InsightsOptions, ServeInsights } from './serve-through-cache.ts';

type TokenBalance = InsightsSchemas['TokenBalance'];
type Nft = InsightsSchemas['Nft'];

/** Handlers of the operations on balances and NFTs. */
export function holdingAnswerers(configured: InsightsOptions, serve: ServeInsights) {
  return {
    /** Token balances, in one order over all owners and chains (Decisions 215 to 217). */
    async listTokenBalances(request: InsightsRequestOf<'listTokenBalances'>, caller: Caller) {
      const { query } = request;
      const { chain: _, chain_id: __, owner_address: owners, token_address: tokens, ...others } = query;
      return serve(caller, {
        operation: 'listTokenBalances',
        chains: chainsAskedFor(configured, query, caller),
        identity: {
          ...others,
          owners: distinctLowerCase(owners)?.sort(),
          tokens: distinctLowerCase(tokens)?.sort(),
          token_type: distinctLowerCase(query.token_type)?.sort(),
        },
        ask: (backend, ask) => backend.insights?.listTokenBalances?.(request, ask),
        bodyOf({ parts }) {
          const balances = inBalanceOrder(
            parts.flatMap(({ result }) => result),
            query,
          );
          return { data: query.metadata === 'true' ? balances : balances.map(withoutMetadata) };
        },
      });
    },

    /** NFTs of owners, in one order over all owners and chains (Decision 218). */
    async listOwnedNfts(request: InsightsRequestOf<'listOwnedNfts'>, caller: Caller) {
      const { query } = request;
      checkNftsOfOwners(query);
      const { chain: _, chain_id: __, owner_address: owners, contract_address: contracts, ...others } = query;
      return serveNfts(caller, {
        operation: 'listOwnedNfts',
        query,
        identity: {
          ...others,
          owners: distinctLowerCase(owners)?.sort(),
          contracts: distinctLowerCase(contracts)?.sort(),
        },
        ask: (backend, ask) => backend.insights?.listOwnedNfts?.(request, ask),
      });
    },

    /** NFTs of a contract (Decision 218). */
    async listContractNfts(request: InsightsRequestOf<'listContractNfts'>, caller: Caller) {
      const { path, query } = request;
      const { chain: _, chain_id: __, ...others } = query;
      return serveNfts(caller, {
        operation: 'listContractNfts',
        query,
        identity: { ...others, contract: path.contract_address.toLowerCase() },
        ask: (backend, ask) => backend.insights?.listContractNfts?.(request, ask),
      });
    },

    /** One NFT on each chain that has it (Decision 219). */
    async getNft(request: InsightsRequestOf<'getNft'>, caller: Caller) {
      const { path, query } = request;
      const { chain: _, chain_id: __, ...others } = query;
      return serveNfts(caller, {
        operation: 'getNft',
        query,
        identity: { ...others, contract: path.contract_address.toLowerCase(), tokenId: path.token_id },
        ask: (backend, ask) => backend.insights?.getNft?.(request, ask),
      });
    },
  };

  function serveNfts(caller: Caller, { query, ...serving }: ServedNfts) {
    return serve(caller, {
      ...serving,
      chains: chainsAskedFor(configured, query, caller, 'missing'),
      unknown: 'missing',
      bodyOf: asked => ({
        data: serving.operation === 'getNft' ? byChain(asked) : inNftOrder(byChain(asked)),
      }),
      isUnsettled: ({ data }) => data.some(mayStillArrive),
    });
  }
}

/** An NFT operation: its query, cache identity and back-end call. */
interface ServedNfts {
  readonly operation: 'listOwnedNfts' | 'listContractNfts' | 'getNft';
  readonly query: { readonly chain_id?: readonly number[]; readonly chain?: readonly number[] };
  readonly identity: object;
  readonly ask: AskInsights<readonly Nft[]>;
}

/** Orders by contract and id, then by chain and owner. */
function inNftOrder(nfts: readonly Nft[]): Nft[] {
  const compared = nfts.map(nft => ({
    nft,
    id: BigInt(nft.token_id),
    owner: nft.owner_addresses?.[0] ?? '',
  }));
  return compared
    .sort(
      (a, b) =>
        compare(a.nft.contract_address, b.nft.contract_address) ||
        compare(a.id, b.id) ||
        a.nft.chain_id - b.nft.chain_id ||
        compare(a.owner, b.owner),
    )
    .map(({ nft }) => nft);
}

function compare<Value extends bigint | string>(a: Value, b: Value): number {
  return a < b ? -1 : Number(a > b);
}

/** Removes the metadata, which is read for an order by price even if the answer must not show it. */
function withoutMetadata({
  name: _,
  symbol: __,
  decimals: ___,
  price_data: ____,
  ...balance
}: TokenBalance): TokenBalance {
  return balance;
}
