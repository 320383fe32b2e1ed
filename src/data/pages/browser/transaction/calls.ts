import type { Explorer } from '../api.ts';

type Frame = Explorer['RawTrace'];
type Address = Explorer['Address'];

/** One call of a transaction with its inner calls. `value` is in wei. */
export interface Call {
  /** Position in the trace: `0.1` is the second call inside the first one, and empty is the transaction itself. */
  readonly path: string;
  /** call, delegatecall, staticcall, create, selfdestruct … */
  readonly kind: string;
  readonly from: string | undefined;
  /** Called or created contract, or the receiver of a destroyed contract's balance. */
  readonly to: string | undefined;
  readonly value: bigint;
  readonly gasUsed: bigint | undefined;
  readonly gasLimit: bigint | undefined;
  /** First four bytes of the input. */
  readonly selector: string | undefined;
  readonly error: string | undefined;
  readonly calls: readonly Call[];
}

const SELECTOR_CHARACTERS = 10;

/** Builds the call tree from the frames of a trace. A frame without its parent becomes a root. */
export function callsOf(frames: readonly Frame[]): readonly Call[] {
  const roots: Call[] = [];
  const below = new Map<string, Call[]>();
  for (const frame of frames) {
    const path = frame.traceAddress.join('.');
    const calls: Call[] = [];
    below.set(path, calls);
    const parent =
      frame.traceAddress.length === 0 ? roots : below.get(frame.traceAddress.slice(0, -1).join('.'));
    (parent ?? roots).push({ path, calls, ...factsOf(frame) });
  }
  return roots;
}

/** Number of calls in the given trees. */
export function countCalls(calls: readonly Call[]): number {
  return calls.reduce((count, call) => count + 1 + countCalls(call.calls), 0);
}

/** Address records by lower-case address, because a trace has no names. */
export function knownAddresses(
  { from, to, created_contract, token_transfers }: Explorer['Transaction'],
  internal: readonly Explorer['InternalTransaction'][],
): ReadonlyMap<string, Address> {
  const transfers = token_transfers ?? [];
  const all = [
    ...transfers.flatMap(transfer => [transfer.from, transfer.to]),
    ...internal.flatMap(call => [call.from, call.to, call.created_contract]),
    from,
    to,
    created_contract,
  ];
  return new Map(all.flatMap(address => (address === null ? [] : [[address.hash.toLowerCase(), address]])));
}

function factsOf({ type, action, result, error }: Frame): Omit<Call, 'path' | 'calls'> {
  const { callType, creationMethod, from, to, address, refundAddress, value, balance, gas, input } = action;
  return {
    kind: type === 'suicide' ? 'selfdestruct' : (callType ?? creationMethod ?? type),
    from: from ?? address,
    to: to ?? result?.address ?? refundAddress,
    value: BigInt(value ?? balance ?? 0),
    gasUsed: result?.gasUsed === undefined ? undefined : BigInt(result.gasUsed),
    gasLimit: gas === undefined ? undefined : BigInt(gas),
    selector:
      input !== undefined && input.length >= SELECTOR_CHARACTERS
        ? input.slice(0, SELECTOR_CHARACTERS)
        : undefined,
    error,
  };
}
