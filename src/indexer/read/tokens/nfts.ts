import type { Address, Hash } from 'viem';
import type { Handle } from '#db/open.ts';
import type { FulfilledOrder } from '#evm/seaport.ts';
import type { InstanceKey, NftType } from '#evm/token-id.ts';
import type { ChainClient } from '#node/client.ts';
import { contractUri, nftStandard } from '#node/nft-contract.ts';
import type { CallContext } from '#node/token-uris.ts';
import { fulfilledOrders } from './fulfilled-orders.ts';
import { instanceOwners } from './instance-owners.ts';
import { type NftTransferQuery, type NftTransferRow, nftTransfers } from './nft-transfers.ts';

/** What the index and the contracts know of NFTs that were moved. */
export interface NftReader {
  transfers(query: NftTransferQuery): Promise<NftTransferRow[]>;
  /** Seaport orders that these transactions fulfilled, in the order of their logs. */
  fulfilledOrders(transactions: readonly Hash[]): Promise<FulfilledOrder[]>;
  /** Who has each of the instances now, in their order, at most `limit` each. */
  owners(wanted: readonly InstanceKey[], limit: number): Promise<Address[][]>;
  /** By a call to the node, as is the next. */
  standard(address: Address, context: CallContext): Promise<NftType | null>;
  contractUri(address: Address, context: CallContext): Promise<string | null>;
}

export function nftReader(handle: Handle, client: ChainClient): NftReader {
  return {
    transfers: query => nftTransfers(handle, query),
    fulfilledOrders: transactions => fulfilledOrders(handle, transactions),
    owners: (wanted, limit) => instanceOwners(handle, wanted, limit),
    standard: (address, context) => nftStandard(client, address, context),
    contractUri: (address, context) => contractUri(client, address, context),
  };
}
