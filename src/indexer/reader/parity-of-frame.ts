import type { RpcCallFrame } from '../../chain/rpc-schema.ts';
import type { RpcFullTrace } from '../../chain/rpc-trace.ts';

/**
 * A trace of geth's `callTracer` in the Parity form: flat, depth first, each item with its path. Gas is as the tracer
 * says it, whose outermost numbers may include the transaction's own cost where Parity's do not.
 */
export function parityOfFrame(frame: RpcCallFrame): RpcFullTrace[] {
  const flat: RpcFullTrace[] = [];
  // A stack, because frames nest 1,024 deep.
  const waiting: { frame: RpcCallFrame; traceAddress: number[] }[] = [{ frame, traceAddress: [] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { traceAddress } = next;
    const calls = next.frame.calls ?? [];
    flat.push({ ...itemOf(next.frame), subtraces: calls.length, traceAddress });
    const below = calls.map((call, index) => ({ frame: call, traceAddress: [...traceAddress, index] }));
    waiting.push(...below.toReversed());
  }
  return flat;
}

type Item = Omit<RpcFullTrace, 'subtraces' | 'traceAddress'>;

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
