import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { at, each, type Fields, fieldsOf, optionalField, required } from '../../upstream-json/fields.ts';
import { booleanOrNull, naturalOrNull, signedOrNull } from '../../upstream-json/values.ts';
import { addressIn } from './address.ts';
import { tokenInstanceOrNull, tokenOrNullIn } from './token.ts';

type StateChange = ExplorerSchemas['StateChange'];
type NftChange = ExplorerSchemas['NftChange'];

const TYPES: readonly StateChange['type'][] = ['coin', 'token'];
const DIRECTIONS: readonly NftChange['direction'][] = ['from', 'to'];

/**
 * Converts a transaction's change of a balance, of any generation. For ERC-721 the change is a list of NFTs (Decision
 * 47).
 * @throws UnreadableRecord without an address or a type.
 */
export function stateChange(value: unknown): StateChange {
  const record = fieldsOf(value);
  const isListed = Array.isArray(record.change);
  return {
    address: addressIn(record, 'address'),
    is_miner: booleanOrNull(record.is_miner) ?? false,
    type: required(TYPES.find(known => known === record.type) ?? null, 'type'),
    token: tokenOrNullIn(record, 'token'),
    token_id: isListed ? null : naturalOrNull(record.token_id),
    ...balances(record),
    change: isListed
      ? at('change', record.change, changes => each(changes, nftChange))
      : signedOrNull(record.change),
  };
}

/** Balances before and after: both or neither. Upstream hides both when one came out negative. */
function balances(record: Fields): Pick<StateChange, 'balance_before' | 'balance_after'> {
  const [before, after] = [naturalOrNull(record.balance_before), naturalOrNull(record.balance_after)];
  return before === null || after === null
    ? { balance_before: null, balance_after: null }
    : { balance_before: before, balance_after: after };
}

function nftChange(value: unknown): NftChange {
  const record = fieldsOf(value);
  return {
    direction: required(DIRECTIONS.find(known => known === record.direction) ?? null, 'direction'),
    total: at('total', record.total, nftTotal),
  };
}

function nftTotal(value: unknown): ExplorerSchemas['NftTotal'] {
  if (value === null || value === undefined) return { token_id: null };
  const record = fieldsOf(value);
  return {
    token_id: naturalOrNull(record.token_id),
    ...optionalField('token_instance', at('token_instance', record.token_instance, tokenInstanceOrNull)),
  };
}
