import fc from 'fast-check';
import {
  type AbiEvent,
  type AbiParameter,
  concatHex,
  decodeAbiParameters,
  decodeEventLog,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  size,
  toEventSelector,
} from 'viem';
import { expect, test } from 'vitest';
import { knownAbis } from '#evm/abi/abi.ts';
import { decodeParameters } from '#evm/abi/decode.ts';

const WORD_TYPES = ['address', 'bool', 'bytes1', 'bytes4', 'bytes32', 'uint', 'int', 'uint8', 'uint48'];
const TYPES = [...WORD_TYPES, 'uint56', 'uint256', 'int8', 'int48', 'int128', 'int256'];
const TO = '0x00000000000000000000000000000000000000aa';

/** Words of small and large amounts, negative ones, booleans, and arbitrary bits. */
const word: fc.Arbitrary<Hex> = fc
  .oneof(
    fc.constantFrom(0n, 1n, 2n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 255n, 2n ** 256n - 1n),
    fc.bigInt(0n, 2n ** 256n - 1n),
    fc.bigInt(0n, 2n ** 48n),
    fc.bigInt(-(2n ** 48n), -1n).map(value => BigInt.asUintN(256, value)),
  )
  .map(value => numberToHex(value, { size: 32 }));

const parameters = fc.array(
  fc.record({ parameter: fc.constantFrom(...TYPES).map((type): AbiParameter => ({ type })), word }),
  { minLength: 1, maxLength: 5 },
);

/** Outcome of a decoder with addresses in lower case, or of its exception. */
function outcomeOf(inputs: readonly AbiParameter[], decode: () => readonly unknown[]): unknown {
  try {
    return decode().map((value, place) =>
      inputs[place]?.type === 'address' ? String(value).toLowerCase() : value,
    );
  } catch {
    return 'refused';
  }
}

test('values of one word are decoded as by viem, including words that do not fit their type', () => {
  fc.assert(
    fc.property(parameters, words => {
      const inputs = words.map(({ parameter }) => parameter);
      const data = concatHex(words.map(one => one.word));

      expect(outcomeOf(inputs, () => decodeParameters(inputs, data))).toEqual(
        outcomeOf(inputs, () => decodeAbiParameters(inputs, data)),
      );
    }),
    { numRuns: 500 },
  );
});

test('truncated values are refused', () => {
  fc.assert(
    fc.property(parameters, fc.nat(), (words, cut) => {
      const inputs = words.map(({ parameter }) => parameter);
      const whole = concatHex(words.map(one => one.word));
      const data: Hex = `0x${whole.slice(2, 2 + 2 * (cut % (size(whole) - 1)))}`;

      expect(() => decodeParameters(inputs, data)).toThrow(RangeError);
    }),
    { numRuns: 200 },
  );
});

test('half a byte and non-hexadecimal text are refused', () => {
  const inputs = [{ type: 'bytes' }];
  const data = encodeAbiParameters(inputs, ['0xabcd']);

  expect(decodeParameters(inputs, data)).toEqual(['0xabcd']);
  for (const broken of [`${data}0`, data.replace('abcd', 'abzz')] as Hex[])
    expect(() => decodeParameters(inputs, broken)).toThrow(RangeError);
});

test.each(TYPES)('a word of %s that is not hexadecimal is refused', type => {
  const digits = '0'.repeat(63);

  expect(() => decodeParameters([{ type }], `0x${digits}1`)).not.toThrow();
  for (const broken of [`${digits}g`, `${digits} `, `g${digits}`, `0x${digits}`, `${digits}é`])
    expect(() => decodeParameters([{ type }], `0x${broken}`)).toThrow(RangeError);
});

test('an event is decoded as by viem, whichever of its parameters are indexed', () => {
  const some = fc.array(fc.tuple(fc.constantFrom(...TYPES, 'string', 'bytes4[2]'), word), { maxLength: 3 });
  fc.assert(
    fc.property(
      some,
      some.map(list => list.filter(([type]) => TYPES.includes(type))),
      (inTopics, inData) => {
        const inputs = [
          ...inTopics.map(([type]) => ({ type, indexed: true })),
          ...inData.map(([type]) => ({ type, indexed: false })),
        ];
        const event: AbiEvent = { type: 'event', name: 'Said', inputs };
        const topics: [Hex, ...Hex[]] = [toEventSelector(event), ...inTopics.map(([, value]) => value)];
        const data = concatHex(inData.map(([, value]) => value));
        const viem = () => {
          const { args } = decodeEventLog({ abi: [event], topics, data });
          return Array.isArray(args) ? args : [];
        };
        const own = () => {
          const decoded = knownAbis([]).eventOf({ address: TO, topics, data }, event);
          if (decoded === null) throw new Error('refused');
          return decoded.args;
        };

        expect(outcomeOf(inputs, own)).toEqual(outcomeOf(inputs, viem));
      },
    ),
    { numRuns: 200 },
  );
});
