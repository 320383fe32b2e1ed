import { expect, test } from 'vitest';
import type { RpcCallFrame } from '#evm/rpc.ts';
import { isTooLargeTrace, parityOfFrame } from '#evm/traces.ts';

const CALL = { type: 'CALL', from: `0x${'11'.repeat(20)}`, to: `0x${'22'.repeat(20)}` } as const;

/** A call `depth` deep, with `width` calls in the innermost one. */
function nested(depth: number, width: number): RpcCallFrame {
  let frame: RpcCallFrame = { ...CALL, calls: Array.from({ length: width }, () => ({ ...CALL })) };
  for (let level = 1; level < depth; level += 1) frame = { ...CALL, calls: [frame] };
  return frame;
}

test('a trace is converted until its calls and their paths are too many', () => {
  expect(parityOfFrame(nested(100, 5_000))).toHaveLength(5_100);
  expect(parityOfFrame(nested(1, 50_000))).toHaveLength(50_001);
  expect(parityOfFrame(nested(900, 5_000))).toBeNull();
  expect(parityOfFrame(nested(1, 100_000))).toBeNull();
});

test('a flat trace of a node is measured the same way', () => {
  const items = (length: number, depth: number) =>
    Array.from({ length }, () => ({ traceAddress: Array<number>(depth).fill(0) }));

  expect(isTooLargeTrace(items(40_000, 10))).toBe(false);
  expect(isTooLargeTrace(items(40_000, 20))).toBe(true);
});
