import { BaseError } from 'viem';
import { AnswerTooLarge, RpcFailure } from './transport/errors.ts';

/** Outcome of a call to a contract that gave no result because of the contract. */
export type ContractRefusal = 'refused' | 'out of gas';

/**
 * Kind of a contract's refusal: the call reverted, the machine stopped it, or its answer is too large to be read.
 * Undefined for every other failure, such as a missing state or block: another attempt may succeed (Decision 307).
 */
export function contractRefusal(error: unknown): ContractRefusal | undefined {
  if (error instanceof AnswerTooLarge) return 'refused';
  const answered = error instanceof BaseError ? error.walk(cause => cause instanceof RpcFailure) : null;
  if (!(answered instanceof RpcFailure) || !isExecutionError(answered)) return undefined;
  return isOutOfGas(answered) ? 'out of gas' : 'refused';
}

/** Error that a node answers a call with, as in JSON-RPC. */
interface AnsweredError {
  readonly code: number;
  readonly message: string;
}

/** Code of a reverted execution. Source: EIP-1474 as geth, erigon, nethermind, reth and anvil apply it. */
const REVERTED = 3;

/** Code of a failed execution, with the reason in `data`. Source: nethermind before 1.33, OpenEthereum. */
const EXECUTION_ERROR = -32_015;

/**
 * Words for a revert or an error of the machine, by client. Clients send them with -32000, -32003 or -32603, as they
 * send errors of the node itself ("missing trie node"), so only the words tell them apart.
 */
const WORDS: Readonly<Record<string, readonly RegExp[]>> = {
  // Source: core/vm/errors.go. Erigon and nethermind from 1.33 on use the same words.
  geth: [
    /^(err: )?execution reverted/i,
    /^(err: )?(contract creation code storage )?out of gas/i,
    /^(err: )?(gas|nonce) uint64 overflow/i,
    /^(err: )?invalid jump destination/i,
    /^(err: )?invalid opcode/i,
    /^(err: )?invalid code: must not begin with 0xef/i,
    /^(err: )?stack underflow/i,
    /^(err: )?stack limit reached/i,
    /^(err: )?max call depth exceeded/i,
    /^(err: )?write protection/i,
    /^(err: )?return data out of bounds/i,
    /^(err: )?insufficient balance for transfer/i,
    /^(err: )?contract address collision/i,
    /^(err: )?max (init)?code size exceeded/i,
  ],
  // Source: EvmExceptionType.
  nethermind: [
    /^(err: )?revert/i,
    /^(err: )?(BadInstruction|StackOverflow|StackUnderflow|OutOfGas|(Bad|Invalid)JumpDestination)\b/,
    /^(err: )?(AccessViolation|StaticCallViolation|PrecompileFailure|InvalidCode|NotEnoughBalance)\b/,
    /^Precompile .* failed with error/,
  ],
  // Source: JsonRpcErrorConverter and ExceptionalHaltReason.
  besu: [
    /^Transaction processing could not be completed due to an exception/,
    /^(Stack underflow|Bad jump destination|Bad instruction|Out of stack|Out of bounds|Illegal state change)\b/,
    /^(Code is (too large|invalid)|Precompile error)\b/,
  ],
  // Source: RpcInvalidTransactionError of rpc-eth-types, InvalidTransactionError of anvil, HaltReason of revm.
  rethAndAnvil: [
    /^EVM error:? (OutOfGas|OpcodeNotFound|InvalidFEOpcode|InvalidJump|NotActivated|Stack(Under|Over)flow)\b/,
    /^EVM error:? (OutOfOffset|CreateCollision|PrecompileError|NonceOverflow|Create|OverflowPayment)/,
    /^EVM error:? (StateChangeDuringStaticCall|CallNotAllowedInsideStatic|OutOfFunds?|CallTooDeep)\b/,
    /^EVM error:? (Revert|Memory(Limit)?OOG|PrecompileOOG|InvalidOperandOOG|ReentrancySentryOOG)\b/,
    /^out of memory: memory limit exceeded/i,
  ],
  // Source: TransactionFailure of edr_provider. A halt without words of its own is written as its name.
  hardhat: [
    /^VM Exception while processing transaction/,
    /^Transaction ran out of gas/,
    /^Transaction reverted/,
    /^reverted with (reason string|panic code|custom error|an unrecognized custom error)/,
    /^Internal: Since we are not validating, this error should not occur/,
    /^(InvalidFEOpcode|InvalidJump|NotActivated|Stack(Under|Over)flow|OutOfOffset|PrecompileError)\b/,
    /^(StateChangeDuringStaticCall|CallNotAllowedInsideStatic|OutOfFunds?|CallTooDeep|CreateCollision)\b/,
  ],
};

/** Of these words, those for a call that needed more gas than it had. */
const OUT_OF_GAS = /out ?of ?gas|OOG\b|uint64 overflow/i;

/**
 * True when a call failed because of the contract that was called: it reverted, or the machine stopped it. False for
 * every error of the node, which may answer the same call later (Decision 307).
 */
export function isExecutionError({ code, message }: AnsweredError): boolean {
  if (code === REVERTED || code === EXECUTION_ERROR) return true;
  return Object.values(WORDS).some(patterns => patterns.some(pattern => pattern.test(message)));
}

/** True for an execution error because the call had too little gas. `data` is that of JSON-RPC. */
export function isOutOfGas(error: AnsweredError & { readonly data?: unknown }): boolean {
  if (error.code === REVERTED || !isExecutionError(error)) return false;
  if (error.code === EXECUTION_ERROR) return typeof error.data === 'string' && OUT_OF_GAS.test(error.data);
  return OUT_OF_GAS.test(error.message) && !/revert/i.test(error.message);
}
