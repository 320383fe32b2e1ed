import type { Explorer } from '../api.ts';

type Frame = Explorer['RawTrace'];
type Address = Explorer['Address'];

/** A step of a transaction and the steps that it led to. Amounts and gas are whole numbers. */
export interface Call {
  /** Place in the trace: `0.1` is the second step of the first one, empty the transaction itself. */
  readonly path: string;
  /** call, delegatecall, staticcall, create, selfdestruct … */
  readonly kind: string;
  readonly from: string | undefined;
  /** The called or created contract, or who receives the rest of a destroyed one. */
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

/** Puts the steps of a trace below those that they belong to. A step whose parent is missing stands at the top. */
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

/** Number of steps below and including some. */
export function countCalls(calls: readonly Call[]): number {
  return calls.reduce((count, call) => count + 1 + countCalls(call.calls), 0);
}

/** Records of addresses by the address in lower case: a trace gives addresses only. */
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
