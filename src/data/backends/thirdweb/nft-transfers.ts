import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { BackendError, isOfKind } from '../port/backend-error.ts';
import type { InsightsAnswers, InsightsAsk, NftTransfersRequest } from '../port/insights-backend.ts';
import { nftTransfer } from './normalise/nft-transfer.ts';
import { firstOfChains, type Parameters, read, recordsOf, segment, type ThirdwebSource } from './source.ts';

type NftTransfer = InsightsSchemas['NftTransfer'];
type PageRequest = Pick<NftTransfersRequest['query'], 'limit' | 'page'>;

/** The longest page of transfers that every generation of upstream gives. Its newest contract does not bound them. */
const PAGE_SIZE = 100;
/** The last page that every generation has. */
const LAST_PAGE = 20;

/** Transfers of NFTs. */
export function nftTransferAnswers(
  source: ThirdwebSource,
): Required<Pick<InsightsAnswers, 'listNftTransfers'>> {
  return {
    async listNftTransfers(request, ask) {
      const { limit, page } = request.query;
      if (limit === 0) {
        // Upstream refuses 0; whether there is such a contract has to be known all the same.
        await pageOf(request, { limit: 1, page: 0 }, ask);
        return [];
      }
      return limit <= PAGE_SIZE
        ? pageOf(request, { limit, page }, ask)
        : windowOf(request, page * limit, limit, ask);
    },
  };

  /** The rows of each chain from `offset` on, put together from pages as long as upstream gives them. */
  async function windowOf(
    request: NftTransfersRequest,
    offset: number,
    length: number,
    ask: InsightsAsk,
  ): Promise<NftTransfer[]> {
    const first = Math.floor(offset / PAGE_SIZE);
    const end = Math.ceil((offset + length) / PAGE_SIZE);
    const rows: NftTransfer[] = [];
    const ofChain = (list: readonly NftTransfer[], id: number) => list.filter(row => row.chain_id === id);
    for (let page = first; page < end; page += 1) {
      const found = await pageOf(request, { limit: PAGE_SIZE, page }, ask);
      rows.push(...found);
      if (!ask.chainIds.some(id => ofChain(found, id).length >= PAGE_SIZE)) break;
    }
    const skipped = offset - first * PAGE_SIZE;
    return ask.chainIds.flatMap(id => ofChain(rows, id).slice(skipped, skipped + length));
  }

  async function pageOf(
    { path, query }: NftTransfersRequest,
    { limit, page }: PageRequest,
    ask: InsightsAsk,
  ): Promise<NftTransfer[]> {
    const { contract_address: contract, token_id: tokenId } = path;
    const below = tokenId === undefined ? '' : `/${segment(tokenId)}`;
    const get = {
      operation: tokenId === undefined ? 'listNftTransfers' : 'listTokenNftTransfers',
      path: `/nfts/transfers/${segment(contract)}${below}`,
      parameters: parametersOf(query, { limit, page }),
      ask,
      missing: 'the contract',
    } as const;
    const rows = await read(source, get, body => recordsOf(body, value => nftTransfer(value, ask))).catch(
      (error: unknown) => {
        throw page > LAST_PAGE && isOfKind(error, 'rejected')
          ? new BackendError('unsupported', 'no_such_answer', 'it has no page that far back', {
              cause: error,
            })
          : error;
      },
    );
    return firstOfChains(rows, { chainIds: ask.chainIds, limit });
  }
}

/** `sales` and `resolve_metadata_links` are for one token alone, upstream as with us. */
function parametersOf(query: NftTransfersRequest['query'], { limit, page }: PageRequest): Parameters {
  const flags = (['metadata', 'include_owners', 'sales'] as const).filter(name => query[name] === 'true');
  return [
    ['limit', String(limit)],
    ['page', String(page)],
    ...flags.map(name => [name, 'true'] as const),
    ...(query.resolve_metadata_links === 'false' ? [['resolve_metadata_links', 'false'] as const] : []),
  ];
}
