import type { Address } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { FulfilledOrder } from '#evm/seaport.ts';
import type { NftTransferRow } from '#indexer/read/tokens/nft-transfers.ts';
import type { InsightsAnswers } from '../../port/insights-backend.ts';
import { resolveAddress } from '../source/names.ts';
import { assertCaughtUp, assertNotCutOff, type IndexSource, missingFrom } from '../source/source.ts';
import { describeNfts } from './nft-metadata.ts';
import { nftSale, orderOf } from './nft-sales.ts';

type NftTransfer = InsightsSchemas['NftTransfer'];

/** Transfers of a contract's tokens with their sales, and what the tokens show. Decisions 90 and 91. */
export function nftAnswers(source: IndexSource): Pick<InsightsAnswers, 'listNftTransfers'> {
  const { nfts } = source.reader;
  return {
    async listNftTransfers({ path, query }, { signal }) {
      assertCaughtUp(source);
      const token = await resolveAddress(source, path.contract_address);
      const { limit, page } = query;
      const ofId = path.token_id === undefined ? {} : { tokenId: BigInt(path.token_id) };
      const rows = await nfts.transfers({ token, ...ofId, limit, offset: limit * page });
      if (rows.length === 0) {
        if (!(await isNftContract(source, token, signal)))
          throw missingFrom(source, `NFT contract ${path.contract_address}`);
        assertNotCutOff(source, { hasMore: false });
        return [];
      }
      assertNotCutOff(source, { hasMore: rows.length === limit });
      const orders = await nfts.fulfilledOrders([...new Set(rows.map(row => row.transactionHash))]);
      const metadataOf =
        query.metadata === 'true'
          ? await describeNfts(source, { token, rows, ...wanted(query) }, signal)
          : undefined;
      return rows.map(row => {
        const order = orderOf(row, orders);
        const metadata = metadataOf?.(row.tokenId);
        return {
          ...transferRecord(source.chainId, row, order),
          ...(metadata === undefined ? {} : { nft_metadata: metadata }),
          ...(order === null || row.type === 'token_minting' || query.sales !== 'true'
            ? {}
            : { nft_sale: nftSale(order, row) }),
        };
      });
    },
  };
}

function wanted(query: { include_owners: string; resolve_metadata_links?: string }) {
  return {
    withOwners: query.include_owners === 'true',
    withBrowsableLinks: query.resolve_metadata_links !== 'false',
  };
}

/** By its transfers, or because it says so itself: one that has just been made has had none yet. */
async function isNftContract(
  { reader }: IndexSource,
  address: Address,
  signal: AbortSignal,
): Promise<boolean> {
  const [known] = await reader.tokens([address]);
  if (known !== undefined && known.type !== 'ERC-20') return true;
  // What began as ERC-20 has another type there although it has had transfers of ids since.
  const [transfer] = await reader.nfts.transfers({ token: address, limit: 1, offset: 0 });
  if (transfer !== undefined) return true;
  const head = await reader.head();
  if (head === null) return false;
  return (await reader.nfts.standard(address, { blockNumber: head.number, signal })) !== null;
}

function transferRecord(chainId: number, row: NftTransferRow, order: FulfilledOrder | null): NftTransfer {
  return {
    token_id: row.tokenId.toString(),
    chain_id: chainId,
    block_number: row.blockNumber.toString(),
    block_hash: row.blockHash,
    block_timestamp: new Date(row.timestamp).toISOString(),
    transaction_hash: row.transactionHash,
    from_address: row.from,
    to_address: row.to,
    log_index: row.logIndex,
    contract_address: row.token,
    transfer_type: row.type === 'token_minting' ? 'mint' : order === null ? 'transfer' : 'sale',
    token_type: row.tokenType === 'ERC-1155' ? 'erc1155' : 'erc721',
    amount: (row.amount ?? 1n).toString(),
  };
}
