import type { Address } from 'viem';
import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import type { FulfilledOrder, OrderItem } from '#evm/seaport.ts';
import { type InstanceKey, instanceName } from '#evm/token-id.ts';
import type { NftTransferRow } from '#indexer/read/tokens/nft-transfers.ts';
import type { InsightsAnswers } from '../../port/insights-backend.ts';
import { resolveAddress } from '../source/names.ts';
import { assertCaughtUp, assertNotCutOff, type IndexSource, missingFrom } from '../source/source.ts';
import { describeNfts } from './nft-metadata.ts';

type NftTransfer = InsightsSchemas['NftTransfer'];

/** NFT transfers of a contract, with sales and metadata (Decisions 90 and 91). */
export function nftAnswers(source: IndexSource) {
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
          ? await describeNfts(source, { keys: keysOf(rows), ...wanted(query) }, signal)
          : undefined;
      return rows.map(row => {
        const order = orderOf(row, orders);
        const metadata = metadataOf?.(instanceOf(row));
        return {
          ...transferRecord(source.chainId, row, order),
          ...(metadata === undefined ? {} : { nft_metadata: metadata }),
          ...(order === null || row.type === 'token_minting' || query.sales !== 'true'
            ? {}
            : { nft_sale: nftSale(order, row) }),
        };
      });
    },
  } satisfies InsightsAnswers;
}

function wanted(query: { include_owners: string; resolve_metadata_links?: string }) {
  return {
    withOwners: query.include_owners === 'true',
    withBrowsableLinks: query.resolve_metadata_links !== 'false',
  };
}

function keysOf(rows: readonly NftTransferRow[]): InstanceKey[] {
  const keys = rows.map(instanceOf);
  return [...new Map(keys.map(key => [instanceName(key), key])).values()];
}

function instanceOf({ token, tokenId, tokenType }: NftTransferRow): InstanceKey {
  return { token, tokenId, type: tokenType === 'ERC-1155' ? tokenType : 'ERC-721' };
}

/**
 * True for an NFT contract, known by its transfers or by the standard it reports. A new contract has no transfers yet.
 */
export async function isNftContract(
  { reader }: IndexSource,
  address: Address,
  signal: AbortSignal,
): Promise<boolean> {
  const [known] = await reader.tokens([address]);
  if (known !== undefined && known.type !== 'ERC-20') return true;
  // A token first seen as ERC-20 keeps that type, even after transfers of ids.
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

type SaleItem = InsightsSchemas['SaleItem'];

/** Name that every version reports: `name()` in Seaport's ConsiderationInterface. */
const MARKETPLACE = 'Seaport';

/**
 * Finds the order behind a transfer: offered by the sender, or requested by the receiver. Of two matched orders the
 * seller's is preferred, because it holds more. Of several the one with the nearest log is chosen (Decision 90).
 */
export function orderOf(transfer: NftTransferRow, orders: readonly FulfilledOrder[]): FulfilledOrder | null {
  const isIt = ({ kind, token, tokenId }: OrderItem) =>
    isNft(kind) && token === transfer.token && tokenId === transfer.tokenId;
  const ofTransaction = orders.filter(({ transactionHash }) => transactionHash === transfer.transactionHash);
  const offered = ofTransaction.filter(
    ({ offerer, offer }) => offerer === transfer.from && offer.some(item => isIt(item)),
  );
  const asked = ofTransaction.filter(({ consideration }) =>
    consideration.some(item => item.recipient === transfer.to && isIt(item)),
  );
  const distance = ({ logIndex }: FulfilledOrder) => Math.abs(logIndex - transfer.logIndex);
  const [nearest = null] = (offered.length > 0 ? offered : asked).toSorted(
    (a, b) => distance(a) - distance(b),
  );
  return nearest;
}

/** Converts an order to the API contract's sale. `transfer` is the transfer whose order it is. */
export function nftSale(order: FulfilledOrder, transfer: NftTransferRow): InsightsSchemas['NftSale'] {
  const isListing = order.offer.some(({ kind }) => isNft(kind));
  return {
    transaction_hash: order.transactionHash,
    ...(isListing ? listing(order, transfer) : bid(order, transfer)),
    marketplace_address: order.marketplace,
    marketplace_name: MARKETPLACE,
  };
}

type Sides = Pick<InsightsSchemas['NftSale'], 'items_sold' | 'payment'>;

function listing(
  { offer, consideration, offerer, recipient }: FulfilledOrder,
  transfer: NftTransferRow,
): Sides {
  const buyer = recipient ?? transfer.to;
  return {
    items_sold: offer.map(item => saleItem(item, { from: offerer, to: buyer })),
    payment: consideration.map(item => saleItem(item, { from: recipient ?? undefined, to: item.recipient })),
  };
}

/**
 * Sale from a buyer's order, which offers money for the token. The fees in its consideration are part of that money.
 */
function bid({ offer, consideration, offerer, recipient }: FulfilledOrder, transfer: NftTransferRow): Sides {
  const seller = recipient ?? transfer.from;
  const fees = consideration.filter(({ kind }) => !isNft(kind));
  const left = offer.map(item => {
    const paidOn = fees.filter(({ kind, token }) => kind === item.kind && token === item.token);
    const amount = paidOn.reduce((rest, fee) => rest - fee.amount, item.amount);
    return { ...item, amount: amount < 0n ? 0n : amount };
  });
  return {
    items_sold: consideration
      .filter(({ kind }) => isNft(kind))
      .map(item => saleItem(item, { from: seller, to: item.recipient })),
    payment: [
      ...left
        .filter(({ amount }) => amount > 0n)
        .map(item => saleItem(item, { from: offerer, to: recipient ?? undefined })),
      ...fees.map(item => saleItem(item, { from: offerer, to: item.recipient })),
    ],
  };
}

function saleItem(
  { kind, token, tokenId, amount }: OrderItem,
  { from, to }: { from: string | undefined; to: string | undefined },
): SaleItem {
  return {
    token_address: kind === 'native' ? ZERO_ADDRESS : token,
    token_id: isNft(kind) ? tokenId.toString() : '0',
    amount: amount.toString(),
    token_type: kind,
    ...(from === undefined ? {} : { from_address: from }),
    ...(to === undefined ? {} : { to_address: to }),
  };
}

function isNft(kind: OrderItem['kind']): boolean {
  return kind === 'erc721' || kind === 'erc1155';
}
