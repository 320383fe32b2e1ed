import { isHex } from 'viem';
import type { RpcCallFrame } from '#evm/rpc.ts';
import { at, type Fields, fieldsOf, listOf, required, Unreadable } from '../../upstream-json/fields.ts';
import { textOrNull } from '../../upstream-json/values.ts';

/** Calls within calls that the EVM allows. */
const DEEPEST = 1024;

/**
 * The frame of a call tracer with all that are inside it.
 * @throws Unreadable for a frame without kind or sender, and for one deeper than the EVM goes.
 */
export function callFrame(value: unknown): RpcCallFrame {
  const outermost = frameOf(value);
  // A stack of our own: the deepest frames would overflow that of the engine.
  const waiting = [{ frame: outermost, source: fieldsOf(value), path: '', depth: 0 }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const depth = next.depth + 1;
    const calls: RpcCallFrame[] = [];
    for (const [index, call] of listOf(next.source.calls).entries()) {
      const path = `${next.path}calls[${index}]`;
      if (depth > DEEPEST) throw new Unreadable(path, 'is deeper than the EVM goes');
      const frame = at(path, call, frameOf);
      calls.push(frame);
      waiting.push({ frame, source: fieldsOf(call), path: `${path}.`, depth });
    }
    next.frame.calls = calls;
  }
  return outermost;
}

function frameOf(value: unknown): RpcCallFrame {
  const frame: Fields = fieldsOf(value);
  const { from, to, value: sent, gas, gasUsed, input, output } = frame;
  const error = textOrNull(frame.error);
  return {
    type: required(textOrNull(frame.type), 'type'),
    from: required(isHex(from) ? from : null, 'from'),
    ...(isHex(to) ? { to } : {}),
    ...(isHex(sent) ? { value: sent } : {}),
    ...(isHex(gas) ? { gas } : {}),
    ...(isHex(gasUsed) ? { gasUsed } : {}),
    ...(isHex(input) ? { input } : {}),
    ...(isHex(output) ? { output } : {}),
    ...(error === null ? {} : { error }),
  };
}
