import { BaseError } from 'viem';
import { isExecutionError, isOutOfGas } from '../evm/execution-error.ts';
import { AnswerTooLarge, RpcFailure } from './transport/errors.ts';

/** Outcome of a call to a contract that gave no result because of the contract. */
export type Refusal = 'refused' | 'out of gas';

/**
 * Kind of a contract's refusal: the call reverted, the machine stopped it, or its answer is too large to be read.
 * Undefined for every other failure, such as a missing state or block: another attempt may succeed (Decision 307).
 */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof AnswerTooLarge) return 'refused';
  const answered = error instanceof BaseError ? error.walk(cause => cause instanceof RpcFailure) : null;
  if (!(answered instanceof RpcFailure) || !isExecutionError(answered)) return undefined;
  return isOutOfGas(answered) ? 'out of gas' : 'refused';
}

/** Handler for `catch` that returns null when the contract refused a call. @throws any other failure */
export function nullIfRefused(error: unknown): null {
  if (refusalOf(error) !== undefined) return null;
  throw error;
}
