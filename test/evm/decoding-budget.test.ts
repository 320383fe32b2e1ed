import fc from 'fast-check';
import {
  type AbiParameter,
  concat,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  numberToHex,
  parseAbi,
  size,
  toHex,
} from 'viem';
import { describe, expect, test } from 'vitest';
import { knownAbis } from '../../src/evm/abi/abi.ts';
import { mayDecode } from '../../src/evm/abi/decoding-budget.ts';
import { signaturesOf } from '../../src/evm/abi/signatures.ts';

const TO = '0x00000000000000000000000000000000000000aa';
/** Number of runs; the fastest counts, because a busy machine has not delayed it. */
const RUNS = 5;
/** Most that a look at undecoded data may take, as a multiple of decoding an honest call of 48 kB. */
const MAX_TIMES_HONEST = 5;

interface Encodable {
  readonly parameter: AbiParameter;
  readonly value: fc.Arbitrary<unknown>;
}

const LEAVES: readonly Encodable[] = [
  { parameter: { type: 'uint256' }, value: fc.bigInt(0n, 2n ** 256n - 1n) },
  { parameter: { type: 'uint8' }, value: fc.nat(255) },
  { parameter: { type: 'int128' }, value: fc.bigInt(-(2n ** 127n), 2n ** 127n - 1n) },
  { parameter: { type: 'address' }, value: fc.constant(TO) },
  { parameter: { type: 'bool' }, value: fc.boolean() },
  { parameter: { type: 'bytes4' }, value: fc.constant('0x12345678') },
  { parameter: { type: 'bytes' }, value: fc.uint8Array({ maxLength: 70 }).map(bytes => toHex(bytes)) },
  { parameter: { type: 'string' }, value: fc.string({ unit: 'grapheme', maxLength: 40 }) },
];

const { encodable } = fc.letrec<{ encodable: Encodable }>(tie => ({
  encodable: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...LEAVES),
    tie('encodable').map(
      ({ parameter, value }): Encodable => ({
        parameter: { ...parameter, type: `${parameter.type}[]` },
        value: fc.array(value, { maxLength: 6 }),
      }),
    ),
    fc.tuple(tie('encodable'), fc.integer({ min: 1, max: 4 })).map(
      ([{ parameter, value }, length]): Encodable => ({
        parameter: { ...parameter, type: `${parameter.type}[${length}]` },
        value: fc.array(value, { minLength: length, maxLength: length }),
      }),
    ),
    fc.array(tie('encodable'), { minLength: 1, maxLength: 4 }).map(
      (parts): Encodable => ({
        parameter: { type: 'tuple', components: parts.map(({ parameter }) => parameter) },
        value: fc.tuple(...parts.map(({ value }) => value)),
      }),
    ),
  ),
}));

const honest = fc.array(encodable, { minLength: 1, maxLength: 4 }).chain(all =>
  fc.record({
    inputs: fc.constant(all.map(({ parameter }) => parameter)),
    values: fc.tuple(...all.map(({ value }) => value)),
  }),
);

/** Duration of the fastest of several runs, in milliseconds. */
function quickest(act: () => unknown): number {
  const runs = Array.from({ length: RUNS }, () => {
    const began = performance.now();
    act();
    return performance.now() - began;
  });
  return Math.min(...runs);
}

const HONEST_ABI = parseAbi(['function multicall(bytes[] data)']);
const HONEST_CALL = encodeFunctionData({
  abi: HONEST_ABI,
  args: [Array.from({ length: 500 }, () => `0x${'11'.repeat(32)}` as const)],
});
const honestAbis = knownAbis([{ address: TO, abi: HONEST_ABI, name: 'Target' }]);
const HONEST_MS = quickest(() => honestAbis.decodeInput({ to: TO, input: HONEST_CALL }));

function expectQuick(act: () => unknown): void {
  expect(quickest(act)).toBeLessThan(MAX_TIMES_HONEST * HONEST_MS);
}

describe('values', () => {
  test('that were encoded honestly may be decoded, and cost no more than the size of their encoding', () => {
    fc.assert(
      fc.property(honest, ({ inputs, values }) => {
        const data = encodeAbiParameters(inputs, values);
        const budget = { left: size(data) };
        expect(mayDecode(inputs, data, { budget })).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  test('of any bytes are checked quickly', () => {
    fc.assert(
      fc.property(fc.array(encodable, { minLength: 1, maxLength: 3 }), fc.array(fc.nat(40)), (all, words) => {
        const data = concat(['0x', ...words.map(word => numberToHex(word * 32, { size: 32 }))]);
        const inputs = all.map(({ parameter }) => parameter);

        expectQuick(() => mayDecode(inputs, data));
      }),
    );
  });

  test('behind a selector are checked in place', () => {
    fc.assert(
      fc.property(honest, fc.nat(), ({ inputs, values }, cut) => {
        const data = encodeAbiParameters(inputs, values);
        const some: Hex = `0x${data.slice(2, 2 + 2 * (cut % (size(data) + 1)))}`;
        const [alone, behind] = [{ left: 1e9 }, { left: 1e9 }];

        const answers = [
          mayDecode(inputs, some, { budget: alone }),
          mayDecode(inputs, concat(['0xa9059cbb', some]), { budget: behind, start: 10 }),
        ];

        expect(answers[1]).toBe(answers[0]);
        expect(behind).toEqual(alone);
      }),
    );
  });

  test('may not be decoded once the budget is spent', () => {
    const data = encodeAbiParameters([{ type: 'bytes' }], [`0x${'11'.repeat(900)}`]);
    const budget = { left: 2000 };
    const answers = [0, 1, 2].map(() => mayDecode([{ type: 'bytes' }], data, { budget }));

    expect(answers).toEqual([true, true, false]);
  });
});

const word = (value: number) => numberToHex(value, { size: 32 });
/** The given number of offsets, all to the same bytes. */
function sameBytes(count: number, bytes: number): Hex {
  return concat([
    word(32),
    word(count),
    ...Array.from({ length: count }, () => word(count * 32)),
    word(bytes),
    `0x${'11'.repeat(bytes)}`,
  ]);
}
/** Lists in lists in lists, with the same content everywhere. */
function sameLists(count: number): Hex {
  const level = [word(count), ...Array.from({ length: count }, () => word(count * 32))];
  return concat([word(32), ...level, ...level, ...level, word(0)]);
}

describe('bombs', () => {
  const abi = parseAbi([
    'function multicall(bytes[] data)',
    'function names(string[] data)',
    'function nested(uint256[][][][] data)',
    'function structs((bytes first, bytes[2] others)[] data)',
    'function nothings(uint256[0][] data)',
    'function many(uint256[999999999] data)',
    'function pointers(bytes[999999999] data)',
    'error Refused(bytes[] reasons)',
  ]);
  const bombs: readonly [string, Hex][] = [
    ['multicall', sameBytes(1000, 32_000)],
    ['multicall', sameBytes(2000, 65_536)],
    ['names', sameBytes(2000, 65_536)],
    ['nested', sameLists(500)],
    ['structs', sameBytes(1000, 32_000)],
    ['nothings', concat([word(32), word(4_000_000_000)])],
    ['many', sameBytes(1, 32)],
    ['pointers', sameBytes(2000, 1000)],
    ['multicall', concat([word(32), `0x${'ff'.repeat(32)}`])],
    ['multicall', concat([`0x${'ff'.repeat(32)}`, `0x${'ff'.repeat(32)}`])],
  ];

  test.each(bombs)('in a call of %s are refused quickly', (name, data) => {
    const abis = knownAbis([{ address: TO, abi, name: 'Target' }]);
    const [selector] = [...signaturesOf(abi).functions].find(([, item]) => item.name === name) ?? ['0x'];
    const input = concat([selector, data]);

    expectQuick(() => expect(abis.decodeInput({ to: TO, input })).toBeNull());
  });

  test('cost no more of the budget than the check itself', () => {
    const data = sameBytes(1000, 32_000);
    const budget = { left: 5 * size(data) };

    expect(mayDecode([{ type: 'bytes[]' }], data, { budget })).toBe(false);
    expect(budget.left).toBeGreaterThan(0);
    expect(budget.left).toBeLessThan(2 * size(data));
  });

  test('in events and reverts are refused quickly', () => {
    const event = parseAbi(['event Sent(bytes[] data)']);
    const [topic = '0x'] = signaturesOf(event).events.keys();
    const [refused = '0x'] = signaturesOf(abi).errors.keys();
    const abis = knownAbis([{ address: TO, abi, name: 'Target' }]);
    const data = sameBytes(1000, 32_000);
    const output = concat([refused, data]);

    expectQuick(() => expect(abis.eventOf({ address: TO, topics: [topic], data }, event[0])).toBeNull());
    expectQuick(() => expect(abis.decodeRevert({ to: TO, output })).toBeNull());
  });
});
