import { each, type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { countOfTransactions, type Generation, renamed, since } from './generation.ts';
import { address, token, tokenInstance } from './parties.ts';

/** The details of an address. The oldest generations name one implementation in two fields. */
export function addressDetails(generation: Generation, record: Fields): Fields {
  const { coin_balance, exchange_rate, block_number_balance_updated_at, creator_address_hash } = record;
  const flags = Object.fromEntries(Object.entries(record).filter(([name]) => name.startsWith('has_')));
  const implementations = listOf(record.implementations).map(fieldsOf);
  const key = since(generation, 'v9.3') ? 'address_hash' : 'address';
  return {
    ...address(generation, record),
    ...{ coin_balance, exchange_rate, block_number_balance_updated_at, creator_address_hash, ...flags },
    ...renamed(generation, 'creation_tx_hash', 'creation_transaction_hash', record.creation_transaction_hash),
    ...(since(generation, 'v6.9')
      ? { implementations: implementations.map(({ address_hash: hash, name }) => ({ [key]: hash, name })) }
      : { implementation_address: implementations[0]?.address_hash ?? null }),
    token: token(generation, record.token),
    watchlist_address_id: null,
  };
}

/** A holder of the native coin. */
export function coinHolder(generation: Generation, record: Fields): Fields {
  return {
    ...address(generation, record),
    coin_balance: record.coin_balance,
    ...countOfTransactions(generation, record.transaction_count),
  };
}

/** A balance of an address. */
export function addressToken(generation: Generation, record: Fields): Fields {
  return {
    value: record.value,
    token_id: record.token_id,
    token: token(generation, record.token),
    token_instance: tokenInstance(generation, record.token_instance),
  };
}

/** A balance of a token. */
export function tokenHolder(generation: Generation, record: Fields): Fields {
  return { address: address(generation, record.address), value: record.value, token_id: record.token_id };
}

/** An NFT of an address. */
export function addressNft(generation: Generation, record: Fields): Fields {
  return { ...tokenInstance(generation, record), value: record.value, token_type: record.token_type };
}

/** NFTs of an address, grouped by token. The token is not repeated in each NFT. */
export function addressNftCollection(generation: Generation, record: Fields): Fields {
  const nfts = each(record.token_instances, nft => addressNft(generation, fieldsOf(nft)));
  return {
    token: token(generation, record.token),
    amount: record.amount,
    token_instances: nfts.map(nft => ({ ...nft, token: null })),
  };
}

/** A change of a balance. It is a list for ERC-721. */
export function stateChange(generation: Generation, record: Fields): Fields {
  const { is_miner, type, token_id, balance_before, balance_after, change } = record;
  return {
    ...{ is_miner, type, token_id, balance_before, balance_after },
    address: address(generation, record.address),
    token: token(generation, record.token),
    change: Array.isArray(change) ? each(change, item => movement(generation, fieldsOf(item))) : change,
  };
}

function movement(generation: Generation, { direction, total }: Fields): Fields {
  const { token_id, token_instance } = fieldsOf(total);
  return { direction, total: { token_id, token_instance: tokenInstance(generation, token_instance) } };
}

/** Balances by day. The oldest generation answers a bare list without the number of days. */
export function balancesByDay(generation: Generation, record: Fields): unknown {
  return since(generation, 'v6.9') ? record : record.items;
}
