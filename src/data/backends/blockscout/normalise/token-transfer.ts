import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { ZERO_ADDRESS } from '#evm/address.ts';
import { isObject } from '#lib/json.ts';
import { at, type Fields, fieldsOf, optionalField, pick, required } from '../../upstream-json/fields.ts';
import {
  countOrNull,
  hashOrNull,
  naturalOrNull,
  textOrNull,
  timestampOrNull,
} from '../../upstream-json/values.ts';
import { addressIn } from './address.ts';
import { tokenInstanceOrNull, tokenOrNullIn } from './token.ts';

type EmbeddedTokenTransfer = ExplorerSchemas['EmbeddedTokenTransfer'];
type TokenTransfer = ExplorerSchemas['TokenTransfer'];
type Address = ExplorerSchemas['Address'];

/**
 * Converts a token transfer inside a transaction, of any generation. Numbers were strings up to 6.8. Celo's transfers
 * between transactions have no transaction hash upstream; like Celo's nodes, we use the block hash instead.
 * @throws UnreadableRecord without its position (block, transaction, log index) or one of its sides.
 */
export function embeddedTokenTransfer(value: unknown): EmbeddedTokenTransfer {
  const record = fieldsOf(value);
  const token = tokenOrNullIn(record, 'token');
  const [from, to] = [addressIn(record, 'from'), addressIn(record, 'to')];
  const blockHash = required(hashOrNull(record.block_hash), 'block_hash');
  return {
    block_hash: blockHash,
    from,
    to,
    log_index: required(countOrNull(record.log_index), 'log_index'),
    ...optionalField('method', textOrNull(record.method)),
    ...optionalField('timestamp', timestampOrNull(record.timestamp)),
    token,
    total: at('total', record.total, total => totalOrNull(total, tokenTypeOrNull(record, token))),
    transaction_hash: hashOrNull(pick(record, 'transaction_hash', 'tx_hash')) ?? blockHash,
    type: kindOf(record.type, from, to),
  };
}

/** Converts a token transfer in a list. Upstream has its block number since 6.8. @throws UnreadableRecord as above. */
export function tokenTransferRecord(value: unknown): TokenTransfer {
  const record = fieldsOf(value);
  const transfer = embeddedTokenTransfer(record);
  return {
    ...transfer,
    block_number: countOrNull(record.block_number),
    token_type: tokenTypeOrNull(record, transfer.token),
  };
}

/** Standard by which the transfer was decoded, present since 9.1. Earlier versions only have the token's standard. */
function tokenTypeOrNull(record: Fields, token: TokenTransfer['token']): string | null {
  return textOrNull(record.token_type) ?? token?.type ?? null;
}

function totalOrNull(value: unknown, tokenType: string | null): TokenTransfer['total'] {
  if (!isObject(value)) return null;
  if (value.token_id === undefined) return amount(value);
  const nft = {
    token_id: naturalOrNull(value.token_id),
    ...optionalField('token_instance', at('token_instance', value.token_instance, tokenInstanceOrNull)),
  };
  return tokenType === 'ERC-721' || value.value === undefined ? nft : { ...nft, ...amount(value) };
}

function amount({ decimals, value }: Fields): ExplorerSchemas['FungibleTotal'] {
  return { decimals: naturalOrNull(decimals), value: naturalOrNull(value) };
}

/** Type given by upstream. A type unknown to the contract is derived from the two sides. */
function kindOf(type: unknown, from: Address, to: Address): TokenTransfer['type'] {
  switch (type) {
    case 'token_transfer':
    case 'token_minting':
    case 'token_burning':
    case 'token_spawning':
      return type;
  }
  if (from.hash === ZERO_ADDRESS) return 'token_minting';
  return to.hash === ZERO_ADDRESS ? 'token_burning' : 'token_transfer';
}
