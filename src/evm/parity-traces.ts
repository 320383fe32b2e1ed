import type { Address, Hex } from 'viem';

/** One frame of geth's `callTracer`. */
export interface CallFrame {
  type: string;
  from: Address;
  to?: Address;
  value?: Hex;
  gas?: Hex;
  gasUsed?: Hex;
  input?: Hex;
  output?: Hex;
  error?: string;
  calls?: CallFrame[];
}

/** What became of it: one item of a trace in Parity's form. */
export interface ParityItem {
  type: 'call' | 'create' | 'suicide';
  action: {
    callType?: string;
    creationMethod?: string;
    from?: Address;
    to?: Address;
    gas?: Hex;
    value?: Hex;
    input?: Hex;
    init?: Hex;
    address?: Address;
    balance?: Hex;
    refundAddress?: Address;
  };
  result: { gasUsed?: Hex; output?: Hex; address?: Address; code?: Hex } | null;
  error?: string;
  subtraces: number;
  traceAddress: number[];
}

/**
 * A trace of geth's `callTracer` in the Parity form: flat, depth first, each item with its path. Gas is as the tracer
 * says it, whose outermost numbers may include the transaction's own cost where Parity's do not.
 */
export function parityOfFrame(frame: CallFrame): ParityItem[] {
  const flat: ParityItem[] = [];
  // A stack, because frames nest 1,024 deep.
  const waiting: { frame: CallFrame; traceAddress: number[] }[] = [{ frame, traceAddress: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { traceAddress } = next;
    const calls = next.frame.calls ?? [];
    flat.push({ ...itemOf(next.frame), subtraces: calls.length, traceAddress });
    const below = calls.map((call, index) => ({ frame: call, traceAddress: [...traceAddress, index] }));
    waiting.push(...below.toReversed());
  }
  return flat;
}

type Item = Omit<ParityItem, 'subtraces' | 'traceAddress'>;

function itemOf(frame: CallFrame): Item {
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

function destruction({ from, to, value = '0x0' }: CallFrame): Item {
  return {
    type: 'suicide',
    action: { address: from, balance: value, ...(to === undefined ? {} : { refundAddress: to }) },
    result: null,
  };
}
