import { each, type Fields, fieldsOf } from '#data/backends/upstream-json/fields.ts';
import { countOfTransactions, type Generation } from './generation.ts';
import { address, token, tokenInstance } from './parties.ts';

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

/** An NFT of an address. */
export function addressNft(generation: Generation, record: Fields): Fields {
  return { ...tokenInstance(generation, record), value: record.value, token_type: record.token_type };
}

/** A change of a balance. Of ERC-721 it is a list. */
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
