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
  /** The call in words, where an ABI is known. */
  readonly decoded: Explorer['DecodedCall'] | undefined;
  /** Number of calls above this one. */
  readonly depth: number;
  /** Number of calls below this one, at any depth. */
  readonly inside: number;
  readonly calls: readonly Call[];
}

const SELECTOR_CHARACTERS = 10;

interface GrowingCall extends Call {
  inside: number;
  readonly calls: GrowingCall[];
  readonly parent: GrowingCall | undefined;
}

/** Builds the call tree from the frames of a trace, outermost first. A frame without its parent becomes a root. */
export function callsOf(frames: readonly Frame[]): readonly Call[] {
  const roots: GrowingCall[] = [];
  const byPath = new Map<string, GrowingCall>();
  for (const frame of frames) {
    const { traceAddress } = frame;
    const path = traceAddress.join('.');
    const parent = traceAddress.length === 0 ? undefined : byPath.get(traceAddress.slice(0, -1).join('.'));
    const call = { path, depth: traceAddress.length, inside: 0, calls: [], parent, ...factsOf(frame) };
    byPath.set(path, call);
    (parent?.calls ?? roots).push(call);
    for (let above = parent; above !== undefined; above = above.parent) above.inside += 1;
  }
  return roots;
}

/** Number of calls in the given trees. */
export function countCalls(calls: readonly Call[]): number {
  return calls.reduce((count, { inside }) => count + 1 + inside, 0);
}

/** Paths of the calls above a depth that have calls inside. */
export function openPaths(calls: readonly Call[], depth: number): ReadonlySet<string> {
  const paths = walk(calls, call => call.depth < depth).filter(
    call => call.calls.length > 0 && call.depth < depth,
  );
  return new Set(paths.map(({ path }) => path));
}

/** Calls in the order of execution, as far as the calls above them are open. */
export function visibleCalls(calls: readonly Call[], open: ReadonlySet<string>): readonly Call[] {
  return walk(calls, ({ path }) => open.has(path));
}

/** Calls depth first. Uses a stack, because calls nest up to 1,024 deep. */
function walk(calls: readonly Call[], goesInto: (call: Call) => boolean): Call[] {
  const found: Call[] = [];
  const waiting = calls.toReversed();
  for (let call = waiting.pop(); call !== undefined; call = waiting.pop()) {
    found.push(call);
    if (goesInto(call)) waiting.push(...call.calls.toReversed());
  }
  return found;
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

function factsOf({
  type,
  action,
  result,
  error,
  decoded,
}: Frame): Omit<Call, 'path' | 'calls' | 'depth' | 'inside'> {
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
    decoded,
  };
}
