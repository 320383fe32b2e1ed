import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { notFound } from '../port/backend-error.ts';
import type {
  InsightsAnswers,
  InsightsAsk,
  InsightsRequestOf,
  NftTransfersRequest,
} from '../port/insights-backend.ts';
import { nft, nftTransfer } from './normalise/nft-transfer.ts';
import { rowsOfPage } from './short-pages.ts';
import { isName, type Parameters, read, recordsOf, segment, type ThirdwebSource } from './source.ts';

type Nft = InsightsSchemas['Nft'];
type OwnedQuery = InsightsRequestOf<'listOwnedNfts'>['query'];

/** NFTs of owners and of contracts. */
export function nftAnswers(
  source: ThirdwebSource,
): Required<Pick<InsightsAnswers, 'listOwnedNfts' | 'listContractNfts' | 'getNft'>> {
  return {
    async listOwnedNfts({ query }, ask) {
      const owners = [...new Set(query.owner_address.map(owner => owner.toLowerCase()))];
      const pages = await Promise.all(owners.map(owner => ownedPage(source, { owner, query }, ask)));
      return pages.flat();
    },

    async listContractNfts({ path, query }, ask) {
      return rowsOfPage(query, ask, page => {
        const get = {
          operation: 'listContractNfts',
          path: `/nfts/${segment(path.contract_address)}`,
          parameters: [...pageOf(page), ...flagsOf(query)],
          ask,
          missing: 'the contract',
        } as const;
        return read(source, get, body => recordsOf(body, value => nft(value, ask), ask));
      });
    },

    async getNft({ path, query }, ask) {
      const { contract_address: contract, token_id: tokenId } = path;
      const get = {
        operation: 'getNft',
        path: `/nfts/${segment(contract)}/${segment(tokenId)}`,
        parameters: flagsOf(query),
        ask,
        missing: 'the contract',
      } as const;
      const found = await read(source, get, body => recordsOf(body, value => nft(value, ask), ask));
      const asked = found.filter(({ chain_id: id }) => ask.chainIds.includes(id));
      if (asked.length === 0) throw notFound(`NFT ${tokenId} of ${contract}`);
      return asked;
    },
  };
}

/** Reads a page of one owner. Upstream may omit the owner, so each owner takes its own request. */
async function ownedPage(
  source: ThirdwebSource,
  { owner, query }: { owner: string; query: OwnedQuery },
  ask: InsightsAsk,
): Promise<Nft[]> {
  const { contract_address: contracts = [] } = query;
  const rows = await rowsOfPage(query, ask, page => {
    const parameters: Parameters = [
      ['owner_address', owner],
      ...contracts.map(contract => ['contract_address', contract] as const),
      ...pageOf(page),
      ...flagsOf(query),
    ];
    const missing = [owner, ...contracts].some(isName) ? 'the name' : 'nothing';
    const get = { operation: 'listOwnedNfts', path: '/nfts', parameters, ask, missing } as const;
    return read(source, get, body => recordsOf(body, value => nft(value, ask), ask));
  });
  return isName(owner) ? rows : rows.map(row => ({ ...row, owner_addresses: [owner] }));
}

function pageOf({ limit, page }: { limit: number; page: number }): Parameters {
  return [
    ['limit', String(limit)],
    ['page', String(page)],
  ];
}

/** Flags that differ from upstream's defaults. */
function flagsOf(query: { include_owners?: string; resolve_metadata_links: string }): Parameters {
  return [
    ...(query.include_owners === 'true' ? [['include_owners', 'true'] as const] : []),
    ...(query.resolve_metadata_links === 'false' ? [['resolve_metadata_links', 'false'] as const] : []),
  ];
}

/** Transfers of NFTs. */
export function nftTransferAnswers(
  source: ThirdwebSource,
): Required<Pick<InsightsAnswers, 'listNftTransfers'>> {
  return {
    async listNftTransfers({ path, query }, ask) {
      const { contract_address: contract, token_id: tokenId } = path;
      const below = tokenId === undefined ? '' : `/${segment(tokenId)}`;
      return rowsOfPage(query, ask, ({ limit, page }) => {
        const get = {
          operation: tokenId === undefined ? 'listNftTransfers' : 'listTokenNftTransfers',
          path: `/nfts/transfers/${segment(contract)}${below}`,
          parameters: [['limit', String(limit)], ['page', String(page)], ...parametersOf(query)],
          ask,
          missing: 'the contract',
        } as const;
        return read(source, get, body => recordsOf(body, value => nftTransfer(value, ask), ask));
      });
    },
  };
}

/**
 * Flags of a request. `sales` and `resolve_metadata_links` exist only for requests about one token, upstream and in our
 * contract.
 */
function parametersOf(query: NftTransfersRequest['query']): Parameters {
  const flags = (['metadata', 'include_owners', 'sales'] as const).filter(name => query[name] === 'true');
  return [
    ...flags.map(name => [name, 'true'] as const),
    ...(query.resolve_metadata_links === 'false' ? [['resolve_metadata_links', 'false'] as const] : []),
  ];
}
