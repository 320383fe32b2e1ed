import { getAddress } from 'viem';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { timestamp } from '#lib/clock.ts';
import type { DepositState } from '../../deposits/deposit-listing.ts';
import type { DepositAddress, DepositSweep } from '../../model/recipient.ts';
import { nullableTimestamp } from '../responses/answers.ts';

/** A deposit address, with its session and sweeps. */
export interface ShownDeposit {
  readonly deposit: DepositAddress;
  /** Undefined where it is not shown. */
  readonly state: DepositState | undefined;
  /** Newest first. */
  readonly sweeps: readonly DepositSweep[];
}

/** A deposit address in the contract's form (Decision 403). */
export function depositBody({ deposit, state, sweeps }: ShownDeposit): PaymentsSchemas['DepositAddress'] {
  const { amountReceived, amountSwept } = deposit;
  const unswept = amountReceived > amountSwept ? amountReceived - amountSwept : 0n;
  return {
    object: 'deposit_address',
    mode: deposit.mode,
    status: state?.isOpen === true ? 'open' : 'ended',
    address: getAddress(deposit.address),
    chain_id: deposit.chainId,
    token_address: deposit.tokenAddress,
    recipient_address: deposit.recipientAddress,
    factory_version: deposit.factoryVersion,
    epoch: deposit.epoch,
    number: deposit.number,
    salt: deposit.salt,
    session_id: deposit.sessionId,
    client_reference_id: deposit.clientReferenceId,
    amount: deposit.amount.toString(),
    amount_received: amountReceived.toString(),
    amount_swept: amountSwept.toString(),
    amount_unswept: unswept.toString(),
    sweeps: sweeps.map(sweepBody),
    next_look_at: nullableTimestamp(state?.nextLookAt ?? null),
    created_at: timestamp(deposit.createdAt),
    ended_at: nullableTimestamp(state?.endedAt ?? null),
  };
}

function sweepBody(sweep: DepositSweep): PaymentsSchemas['DepositSweep'] {
  return {
    token_address: sweep.tokenAddress,
    amount: sweep.amount.toString(),
    tx_hash: sweep.txHash,
    log_index: sweep.logIndex,
    block_number: sweep.blockNumber,
    block_timestamp: timestamp(sweep.blockTime),
  };
}
