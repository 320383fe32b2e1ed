import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { fieldsOf, given, pick, required } from '../../upstream-json/fields.ts';
import { hashOrNull } from '../../upstream-json/values.ts';
import {
  addressOrNull,
  chainIdOf,
  countOrNull,
  momentOrNull,
  nftTypeOrNull,
  quantityOrNull,
  type UpstreamPlace,
} from './forms.ts';
import { nftMetadataOrNull } from './nft-metadata.ts';
import { nftSaleOrNull } from './nft-sale.ts';

type NftTransfer = InsightsSchemas['NftTransfer'];

/** A transfer of an NFT of any generation. @throws Unreadable without what was moved, where and between whom. */
export function nftTransfer(value: unknown, place: Pick<UpstreamPlace, 'chainIds'>): NftTransfer {
  const record = fieldsOf(value);
  const address = (name: string) => required(addressOrNull(record[name]), name);
  const quantity = (name: string) => required(quantityOrNull(record[name]), name);
  const from = address('from_address');
  return {
    token_id: quantity('token_id'),
    chain_id: chainIdOf(record, place),
    block_number: quantity('block_number'),
    ...given('block_hash', hashOrNull(record.block_hash)),
    block_timestamp: required(momentOrNull(record.block_timestamp), 'block_timestamp'),
    transaction_hash: required(hashOrNull(record.transaction_hash), 'transaction_hash'),
    from_address: from,
    to_address: address('to_address'),
    log_index: required(countOrNull(record.log_index), 'log_index'),
    contract_address: required(
      addressOrNull(pick(record, 'contract_address', 'token_address')),
      'contract_address',
    ),
    transfer_type: kindOf(record.transfer_type, from),
    token_type: required(nftTypeOrNull(record.token_type), 'token_type'),
    amount: quantity('amount'),
    ...given('nft_metadata', nftMetadataOrNull(record.nft_metadata)),
    ...given('nft_sale', nftSaleOrNull(record.nft_sale)),
  };
}

/** Burning is a transfer. Decision 90. */
function kindOf(value: unknown, from: string): NftTransfer['transfer_type'] {
  if (value === 'sale' || value === 'mint') return value;
  return from === ZERO_ADDRESS ? 'mint' : 'transfer';
}
