import type { InsightsAnswers, NftTransfersRequest } from '../port/insights-backend.ts';
import { nftTransfer } from './normalise/nft-transfer.ts';
import { rowsOfPage } from './short-pages.ts';
import { type Parameters, read, recordsOf, segment, type ThirdwebSource } from './source.ts';

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
