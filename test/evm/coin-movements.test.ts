import fc from 'fast-check';
import type { Address, Hash, Hex } from 'viem';
import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import { coinMovements } from '#evm/coin-movements.ts';
import type { RpcCallFrame, RpcParityTrace } from '#evm/rpc.ts';
import { parityOfFrame, type TransactionTrace, tracesOfFrames, tracesOfParity } from '#evm/traces.ts';

const HASH: Hash = `0x${'12'.repeat(32)}`;

/** A call with those inside it. */
interface Node {
  readonly type: string;
  readonly from: number;
  readonly to: number;
  readonly value: bigint;
  readonly hasFailed: boolean;
  readonly inner: readonly Node[];
}

const TYPES = ['CALL', 'STATICCALL', 'DELEGATECALL', 'CALLCODE', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];

const { node } = fc.letrec<{ node: Node }>(tie => ({
  node: fc.record({
    type: fc.constantFrom(...TYPES),
    from: fc.integer({ min: 1, max: 4 }),
    to: fc.integer({ min: 1, max: 4 }),
    value: fc.bigInt(0n, 3n),
    hasFailed: fc.boolean(),
    inner: fc.oneof({ maxDepth: 5 }, fc.constant([]), fc.array(tie('node'), { maxLength: 4 })),
  }),
}));

function addressOf(number: number): Address {
  return `0x${number.toString(16).padStart(40, 'A')}`;
}

function frameOf({ type, from, to, value, hasFailed, inner }: Node): RpcCallFrame {
  const isEnd = type === 'SELFDESTRUCT';
  return {
    type,
    from: addressOf(from),
    to: addressOf(to),
    value: numberToHex(value),
    ...(hasFailed && !isEnd ? { error: 'execution reverted' } : {}),
    ...(isEnd ? {} : { calls: inner.map(frameOf) }),
  };
}

/** Coins that moved, by the rules of the EVM: calls that failed undo all inside them. */
function movedBy(call: Node, isOutermost = true): readonly unknown[] {
  const isEnd = call.type === 'SELFDESTRUCT';
  if (call.hasFailed && !isEnd) return [];
  const moves = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'].includes(call.type);
  const counts = moves && !isOutermost && call.value > 0n && call.from !== call.to;
  const [from, to] = [addressOf(call.from).toLowerCase(), addressOf(call.to).toLowerCase()];
  const own = counts ? [{ from, to, value: call.value }] : [];
  return isEnd ? own : [...own, ...call.inner.flatMap(one => movedBy(one, false))];
}

const movements = (traces: readonly (TransactionTrace | null)[] | null) =>
  traces?.map(trace => (trace === null ? null : coinMovements(trace)));

/** Items in the order of some nodes: the last item inside a call, as a self-destruction is, before the others. */
function lastFirst(items: readonly RpcParityTrace[]): RpcParityTrace[] {
  const depth = (one: RpcParityTrace) => one.traceAddress.length;
  return items.toSorted(
    (a, b) => depth(a) - depth(b) || Number(b.traceAddress.at(-1)) - Number(a.traceAddress.at(-1)),
  );
}

test('coins that moved are the same by both kinds of traces, and only those that no failure undid', () => {
  fc.assert(
    fc.property(node, root => {
      const outermost = { ...root, type: 'CALL' };
      const frame = frameOf(outermost);
      const items = (parityOfFrame(frame) ?? []).map(item => ({ ...item, transactionPosition: 0 }));

      const expected = [movedBy(outermost)];
      expect(movements(tracesOfFrames([{ result: frame }], [HASH]))).toEqual(expected);
      expect(movements(tracesOfParity(items, [HASH]))).toEqual(expected);
      expect(movements(tracesOfParity(lastFirst(items), [HASH]))).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test('a call whose caller the node does not list moves nothing', () => {
  const call = (traceAddress: number[], value: Hex): RpcParityTrace => ({
    type: 'call',
    action: { callType: 'call', from: addressOf(1), to: addressOf(2), value },
    subtraces: 0,
    traceAddress,
    transactionPosition: 0,
  });

  const traces = tracesOfParity([call([], '0x0'), call([0], '0x1'), call([1, 0], '0x2')], [HASH]);

  expect(movements(traces)?.[0]).toMatchObject([{ value: 1n }]);
});
