import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { isObject } from '#lib/json.ts';
import {
  at,
  each,
  type Fields,
  fieldsOf,
  listOf,
  pick,
  required,
  requiredNatural,
} from '../../upstream-json/fields.ts';
import {
  booleanOrNull,
  countOrNull,
  decimalOrNull,
  hashOrNull,
  hexOrNull,
  naturalOrNull,
  numberOrNull,
  textOrNull,
  timestampOrNull,
  unsignedOrNull,
} from '../../upstream-json/values.ts';
import { addressIn, addressOrNullIn } from './address.ts';
import { decodedInputOrNull, revertReasonOrNull } from './decoded.ts';
import { embeddedTokenTransfer } from './token-transfer.ts';

type Transaction = ExplorerSchemas['Transaction'];

/** Maximum number of embedded token transfers (Decision 15). */
const MAX_TRANSFERS = 10;

/**
 * Converts a transaction of any generation. 6.10 renamed `block` and all keys with `tx_`; 6.9 has both names.
 * @throws UnreadableRecord without a hash, sender, nonce, value or gas limit.
 */
export function transactionRecord(value: unknown): Transaction {
  const record = fieldsOf(value);
  const hash = required(hashOrNull(record.hash), 'hash');
  const blockNumber = countOrNull(pick(record, 'block_number', 'block'));
  const status = record.status === 'ok' || record.status === 'error' ? record.status : null;
  const to = addressOrNullIn(record, 'to');
  const rawInput = hexOrNull(record.raw_input);
  return {
    timestamp: timestampOrNull(record.timestamp),
    fee: feeOf(record, blockNumber !== null),
    gas_limit: required(unsignedOrNull(record.gas_limit), 'gas_limit'),
    block_number: blockNumber,
    status,
    method: to === null ? null : (textOrNull(record.method) ?? selectorOrNull(rawInput)),
    confirmations: blockNumber === null ? 0 : blocksAbove(record.confirmations),
    type: countOrNull(record.type),
    exchange_rate: decimalOrNull(record.exchange_rate),
    to,
    from: addressIn(record, 'from'),
    created_contract: addressOrNullIn(record, 'created_contract'),
    ...pricesOf(record),
    value: requiredNatural(record, 'value'),
    result: textOrNull(record.result) ?? resultOf(status, blockNumber !== null),
    revert_reason: revertReasonOrNull(record.revert_reason),
    hash,
    ...transfersOf(record, blockNumber !== null),
    transaction_types: listOf(pick(record, 'transaction_types', 'tx_types')).filter(isKind),
    position: countOrNull(record.position),
    nonce: required(unsignedOrNull(record.nonce), 'nonce'),
    has_error_in_internal_transactions: booleanOrNull(
      pick(record, 'has_error_in_internal_transactions', 'has_error_in_internal_txs'),
    ),
    actions: listOf(record.actions).flatMap(action),
    decoded_input: decodedInputOrNull(record.decoded_input),
    raw_input: rawInput,
    confirmation_duration: durations(record.confirmation_duration),
    transaction_tag: textOrNull(pick(record, 'transaction_tag', 'tx_tag')),
    proven: null,
  };
}

/**
 * Converts an item of a block's list. Null for a reward, which chains with an emission fund include in the list.
 * @throws UnreadableRecord as above.
 */
export function transactionOrNull(value: unknown): Transaction | null {
  const isReward = isObject(value) && value.hash === undefined && value.emission_reward !== undefined;
  return isReward ? null : transactionRecord(value);
}

/** Result in upstream's terms. A mined transaction without a status has not been traced yet. */
function resultOf(status: Transaction['status'], isMined: boolean): string {
  if (status === null) return isMined ? 'awaiting_internal_transactions' : 'pending';
  return status === 'ok' ? 'success' : status;
}

/** Selector of the call, in lower case (Decision 20). */
function selectorOrNull(input: string | null): string | null {
  return input === null || input.length < 10 ? null : input.slice(0, 10).toLowerCase();
}

/** Blocks on top of the transaction's block (Decision 17). Upstream counts that block too and so starts at 1. */
function blocksAbove(confirmations: unknown): number | null {
  const count = countOrNull(confirmations);
  return count === null ? null : Math.max(0, count - 1);
}

type Transfers = Pick<Transaction, 'token_transfers' | 'token_transfers_overflow'>;

/**
 * Token transfers (Decision 15). Lists have null here, which says nothing about a mined transaction. A pending
 * transaction has no transfers.
 */
function transfersOf(record: Fields, isMined: boolean): Transfers {
  const { token_transfers: transfers, token_transfers_overflow: overflow } = record;
  if (!Array.isArray(transfers)) {
    return isMined
      ? { token_transfers: null, token_transfers_overflow: null }
      : { token_transfers: [], token_transfers_overflow: false };
  }
  return {
    token_transfers: at('token_transfers', transfers.slice(0, MAX_TRANSFERS), first =>
      each(first, embeddedTokenTransfer),
    ),
    token_transfers_overflow: transfers.length > MAX_TRANSFERS || booleanOrNull(overflow),
  };
}

/** True for the contract's transaction types (Decision 23). */
function isKind(value: unknown): value is Transaction['transaction_types'][number] {
  switch (value) {
    case 'token_transfer':
    case 'contract_creation':
    case 'contract_call':
    case 'token_creation':
    case 'coin_transfer':
      return true;
    default:
      return false;
  }
}

/** Reads an action, a field removed in 11.0. One of unknown form is left out. */
function action(value: unknown): Transaction['actions'] {
  if (!isObject(value)) return [];
  const [protocol, type] = [textOrNull(value.protocol), textOrNull(value.type)];
  if (protocol === null || type === null || !isObject(value.data)) return [];
  return [{ data: { ...value.data }, protocol, type }];
}

/** Durations in milliseconds, at most two (Decision 16). */
function durations(value: unknown): number[] {
  const found: number[] = [];
  for (const item of listOf(value)) {
    const duration = numberOrNull(item);
    if (duration !== null && duration >= 0 && found.length < 2) found.push(duration);
  }
  return found;
}

type Prices = Pick<
  Transaction,
  | 'transaction_burnt_fee'
  | 'max_fee_per_gas'
  | 'gas_price'
  | 'priority_fee'
  | 'base_fee_per_gas'
  | 'max_priority_fee_per_gas'
  | 'gas_used'
>;

/** Fee of the sender in wei. Without a type, a mined transaction's fee is `actual`. */
function feeOf(record: Fields, isMined: boolean): Transaction['fee'] {
  const fee = isObject(record.fee) ? record.fee : {};
  const type = fee.type === 'maximum' || fee.type === 'actual' ? fee.type : null;
  return { type: type ?? (isMined ? 'actual' : 'maximum'), value: naturalOrNull(fee.value) };
}

/** Gas prices and the resulting fees, in wei. */
function pricesOf(record: Fields): Prices {
  // Types 0 and 1 have no tip (Decision 24).
  const isPlain = isLegacy(record.type);
  const gasPrice = naturalOrNull(record.gas_price);
  const baseFeePerGas = naturalOrNull(record.base_fee_per_gas);
  const gasUsed = naturalOrNull(record.gas_used);
  return {
    transaction_burnt_fee:
      naturalOrNull(pick(record, 'transaction_burnt_fee', 'tx_burnt_fee')) ??
      (isPlain ? burntFee(gasPrice, baseFeePerGas, gasUsed) : null),
    max_fee_per_gas: isPlain ? null : naturalOrNull(record.max_fee_per_gas),
    gas_price: gasPrice,
    priority_fee: isPlain ? null : naturalOrNull(record.priority_fee),
    base_fee_per_gas: baseFeePerGas,
    max_priority_fee_per_gas: isPlain ? null : naturalOrNull(record.max_priority_fee_per_gas),
    gas_used: gasUsed,
  };
}

function isLegacy(type: unknown): boolean {
  return type === 0 || type === 1 || type === '0' || type === '1';
}

/**
 * Burnt fee of a type 0 or 1 transaction, which upstream omits (Decision 24). A gas price below the base fee burns
 * nothing.
 */
function burntFee(gasPrice: string | null, baseFee: string | null, gasUsed: string | null): string | null {
  if (gasPrice === null || baseFee === null || gasUsed === null) return null;
  const baseFeePerGas = BigInt(baseFee);
  return BigInt(gasPrice) < baseFeePerGas ? null : (baseFeePerGas * BigInt(gasUsed)).toString();
}
