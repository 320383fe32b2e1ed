import type { Address, Hash, Hex } from 'viem';
import type { RpcBlockTraces, RpcCallFrame, RpcParityTrace } from './rpc.ts';

/** Inner call of a transaction. Lists are in call order. */
export interface InnerCall {
  /** Lower case: call, delegatecall, staticcall, callcode, create, create2, selfdestruct. */
  type: string;
  from: Address;
  to: Address | null;
  createdContract: Address | null;
  value: bigint;
  gasLimit: bigint;
  gasUsed: bigint;
  error: string | null;
  /** True when it failed, or a call above it did, up to the transaction's own: it has changed nothing. */
  isUndone: boolean;
}

/** Trace data of a transaction. */
export interface TransactionTrace {
  error: string | null;
  /** Return data of a failed transaction: the encoded revert reason, if any. */
  output: Hex | null;
  calls: InnerCall[];
}

/**
 * Converts traces of geth's `callTracer`, one per transaction, in block order. A transaction that the node failed to
 * trace has null.
 * Returns null when they do not match these transactions.
 */
export function tracesOfFrames(
  traces: RpcBlockTraces,
  transactions: readonly Hash[],
): (TransactionTrace | null)[] | null {
  if (traces.length !== transactions.length) return null;
  const areOfThese = traces.every(({ txHash }, at) => txHash === undefined || txHash === transactions[at]);
  return areOfThese ? traces.map(({ result }) => (result === undefined ? null : traceOfFrame(result))) : null;
}

/** Converts the call tree of one transaction. */
export function traceOfFrame({ error, output, calls }: RpcCallFrame): TransactionTrace {
  const failed = error !== undefined;
  return {
    error: error ?? null,
    output: failed && output !== undefined && output !== '0x' ? output : null,
    calls: flatten(calls ?? [], failed),
  };
}

/**
 * Flattens depth first, which is the order of execution. Uses a stack, because frames nest up to 1,024 deep.
 * `isBelowFailure` is true when the call above the first ones failed.
 */
function flatten(calls: readonly RpcCallFrame[], isBelowFailure: boolean): InnerCall[] {
  const flat: InnerCall[] = [];
  const waiting = calls.toReversed().map(frame => ({ frame, isBelowFailure }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { frame } = next;
    const creates = frame.type.startsWith('CREATE');
    const failed = frame.error !== undefined;
    const isUndone = failed || next.isBelowFailure;
    flat.push({
      type: frame.type.toLowerCase(),
      from: frame.from,
      to: creates ? null : (frame.to ?? null),
      createdContract: creates && !failed ? (frame.to ?? null) : null,
      value: movedValue(frame.type.toLowerCase(), frame.value),
      gasLimit: BigInt(frame.gas ?? 0),
      gasUsed: BigInt(frame.gasUsed ?? 0),
      error: frame.error ?? null,
      isUndone,
    });
    for (const inner of frame.calls?.toReversed() ?? []) {
      waiting.push({ frame: inner, isBelowFailure: isUndone });
    }
  }
  return flat;
}

/**
 * Converts the output of `trace_block`, whose entries are flat and carry a path. Block rewards are skipped.
 * Returns null when the entries do not match these transactions or contain duplicates.
 */
export function tracesOfParity(
  traces: readonly RpcParityTrace[],
  transactions: readonly Hash[],
): TransactionTrace[] | null {
  const found = new Map<number, RpcParityTrace[]>();
  const seen = new Set<string>();
  for (const trace of traces) {
    const position = trace.transactionPosition;
    if (position === null || position === undefined) continue;
    const hash = transactions[position];
    const path = `${position}/${trace.traceAddress}`;
    if (hash === undefined || (trace.transactionHash ?? hash) !== hash || seen.has(path)) return null;
    seen.add(path);
    const items = found.get(position) ?? [];
    found.set(position, items);
    items.push(trace);
  }
  const inOrder = transactions.flatMap((_, position) => {
    const items = found.get(position);
    return items === undefined ? [] : [traceOfItems(items)];
  });
  return inOrder.length === transactions.length ? inOrder : null;
}

/** Trace of one transaction from its items. Some nodes list a self-destruction before the calls that preceded it. */
function traceOfItems(items: readonly RpcParityTrace[]): TransactionTrace {
  let error: string | null = null;
  let output: Hex | null = null;
  const calls: InnerCall[] = [];
  /** The calls above the next one, outermost first. */
  let above: { readonly path: readonly number[]; readonly isUndone: boolean }[] = [];
  for (const item of items.toSorted(byPath)) {
    const path = item.traceAddress;
    above = above.slice(0, path.length);
    // A call whose caller is not listed cannot be judged.
    const parent = above.length === path.length ? above.at(-1) : undefined;
    const isListed = parent?.path.every((step, depth) => step === path[depth]) ?? path.length === 0;
    const isUndone = item.error !== undefined || !isListed || parent?.isUndone === true;
    above.push({ path, isUndone });
    if (path.length > 0) {
      const call = innerCall(item, isUndone);
      if (call !== null) calls.push(call);
      continue;
    }
    const returned = item.result?.output;
    error = item.error ?? null;
    output = item.error !== undefined && returned !== undefined && returned !== '0x' ? returned : null;
  }
  return { error, output, calls };
}

/** Depth first, in the order of execution. */
function byPath({ traceAddress: a }: RpcParityTrace, { traceAddress: b }: RpcParityTrace): number {
  const depth = a.findIndex((step, index) => step !== b[index]);
  return depth < 0 || depth >= b.length ? a.length - b.length : Number(a[depth]) - Number(b[depth]);
}

function innerCall({ type, action, result, error }: RpcParityTrace, isUndone: boolean): InnerCall | null {
  const from = action.from ?? action.address;
  if (from === undefined) return null;
  const kind = type === 'suicide' ? 'selfdestruct' : (action.callType ?? action.creationMethod ?? type);
  return {
    type: kind,
    from,
    to: type === 'create' ? null : (action.to ?? action.refundAddress ?? null),
    createdContract: type === 'create' && error === undefined ? (result?.address ?? null) : null,
    value: movedValue(kind, action.value ?? action.balance),
    gasLimit: BigInt(action.gas ?? 0),
    gasUsed: BigInt(result?.gasUsed ?? 0),
    error: error ?? null,
    isUndone,
  };
}

/** Value that a call transfers. Delegated calls transfer none, although some tracers show their caller's value. */
function movedValue(type: string, value: Hex | undefined): bigint {
  return type === 'delegatecall' || type === 'staticcall' ? 0n : BigInt(value ?? 0);
}

/**
 * Converts a trace of geth's `callTracer` to the Parity form: flat, depth first, each item with its path. Gas values
 * are the tracer's. At the outermost call they may include the transaction's intrinsic cost, which Parity's do not.
 * Null when the trace is too large to be answered.
 */
export function parityOfFrame(frame: RpcCallFrame): RpcParityTrace[] | null {
  const flat: RpcParityTrace[] = [];
  let parts = 0;
  // Uses a stack, because frames nest up to 1,024 deep.
  const waiting: { frame: RpcCallFrame; traceAddress: number[] }[] = [{ frame, traceAddress: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { traceAddress } = next;
    parts += partsOf(next);
    if (parts > MAX_TRACE_PARTS) return null;
    const calls = next.frame.calls ?? [];
    flat.push({ ...itemOf(next.frame), subtraces: calls.length, traceAddress });
    const below = calls.map((call, index) => ({ frame: call, traceAddress: [...traceAddress, index] }));
    waiting.push(...below.toReversed());
  }
  return flat;
}

/**
 * Most fields and path numbers of a trace that is answered, some megabytes of text. Each call of a deep trace repeats its
 * whole path, so a stranger's cheap transaction could otherwise take seconds and hundreds of megabytes for each request.
 */
const MAX_TRACE_PARTS = 1_000_000;
const FIELDS_OF_CALL = 12;

/** True for a trace that is too large to be answered. */
export function isTooLargeTrace(items: readonly Pick<RpcParityTrace, 'traceAddress'>[]): boolean {
  let parts = 0;
  for (const item of items) parts += partsOf(item);
  return parts > MAX_TRACE_PARTS;
}

function partsOf({ traceAddress }: Pick<RpcParityTrace, 'traceAddress'>): number {
  return FIELDS_OF_CALL + traceAddress.length;
}

type Item = Omit<RpcParityTrace, 'subtraces' | 'traceAddress'>;

function itemOf(frame: RpcCallFrame): Item {
  const type = frame.type.toLowerCase();
  if (type === 'selfdestruct') return destruction(frame);
  const { from, value = '0x0', gas = '0x0', gasUsed = '0x0', input = '0x', output = '0x', to } = frame;
  const failure = frame.error === undefined ? {} : { error: frame.error };
  if (type.startsWith('create')) {
    return {
      type: 'create',
      action: { creationMethod: type, from, gas, init: input, value },
      result:
        frame.error === undefined
          ? { gasUsed, code: output, ...(to === undefined ? {} : { address: to }) }
          : null,
      ...failure,
    };
  }
  const hasReturned = frame.error === undefined || frame.output !== undefined;
  return {
    type: 'call',
    action: { callType: type, from, gas, input, value, ...(to === undefined ? {} : { to }) },
    result: hasReturned ? { gasUsed, output } : null,
    ...failure,
  };
}

function destruction({ from, to, value = '0x0' }: RpcCallFrame): Item {
  return {
    type: 'suicide',
    action: { address: from, balance: value, ...(to === undefined ? {} : { refundAddress: to }) },
    result: null,
  };
}
