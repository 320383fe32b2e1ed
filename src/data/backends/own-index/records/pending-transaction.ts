import type { Address } from 'viem';
import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import type { PendingTransaction } from '#node/pending-transactions.ts';
import { decodedInput, methodOf } from '../parts/decoded.ts';
import { amount } from '../parts/format.ts';
import type { Parties } from '../parts/parties.ts';

type Transaction = ExplorerSchemas['Transaction'];

export interface PendingContext {
  readonly abis: Abis;
  readonly parties: Parties;
  /** Receivers that have code now. */
  readonly withCode: ReadonlySet<Address>;
}

/** A transaction that waits in the node's pool: everything that its block will decide is null. */
export function pendingTransaction(
  row: PendingTransaction,
  { abis, parties, withCode }: PendingContext,
): Transaction {
  const highestPrice = row.maxFeePerGas ?? row.gasPrice;
  return {
    timestamp: null,
    fee: { type: 'maximum', value: amount(highestPrice === null ? null : highestPrice * row.gasLimit) },
    gas_limit: row.gasLimit,
    block_number: null,
    status: null,
    method: methodOf(abis, row.selector),
    confirmations: 0,
    type: row.type,
    exchange_rate: null,
    to: parties.addressOrNull(row.to),
    from: parties.address(row.from),
    created_contract: null,
    transaction_burnt_fee: null,
    max_fee_per_gas: amount(row.maxFeePerGas),
    gas_price: amount(row.gasPrice),
    priority_fee: null,
    base_fee_per_gas: null,
    max_priority_fee_per_gas: amount(row.maxPriorityFeePerGas),
    gas_used: null,
    value: row.value.toString(),
    result: 'pending',
    revert_reason: null,
    hash: row.hash,
    token_transfers: null,
    token_transfers_overflow: null,
    transaction_types: pendingTypes(row, withCode),
    position: null,
    nonce: row.nonce,
    has_error_in_internal_transactions: null,
    actions: [],
    decoded_input: decodedInput(abis, row),
    raw_input: row.input,
    confirmation_duration: [],
    transaction_tag: null,
  };
}

/** Types of a transaction before it runs: those that moved tokens give are unknown. */
export function pendingTypes(
  row: PendingTransaction,
  withCode: ReadonlySet<Address>,
): Transaction['transaction_types'] {
  const types: Transaction['transaction_types'] = [];
  if (row.to === null) types.push('contract_creation');
  else if (withCode.has(row.to)) types.push('contract_call');
  if (row.value > 0n) types.push('coin_transfer');
  return types;
}
