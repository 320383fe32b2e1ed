import { encodeAbiParameters, pad, stringToHex } from 'viem';
import { expect, test } from 'vitest';
import { textOf, uint8Of, wordOf } from '../../src/evm/call-result.ts';

test('a text is read as string or, for old tokens, as bytes32', () => {
  expect(textOf(encodeAbiParameters([{ type: 'string' }], ['Dollar']))).toBe('Dollar');
  expect(textOf(pad(stringToHex('Maker'), { dir: 'right', size: 32 }))).toBe('Maker');
});

test('a result that is not a text, or an empty text, is null', () => {
  expect(textOf('0x')).toBeNull();
  expect(textOf(null)).toBeNull();
  expect(textOf(pad('0x', { size: 32 }))).toBeNull();
  expect(textOf(pad('0xffff', { size: 64 }))).toBeNull();
  expect(textOf(encodeAbiParameters([{ type: 'string' }], ['\0\0']))).toBeNull();
});

test('decimals beyond uint8 and short answers are null', () => {
  expect(uint8Of(pad('0x12', { size: 32 }))).toBe(18);
  expect(uint8Of(pad('0x0100', { size: 32 }))).toBeNull();
  expect(wordOf('0x01')).toBeNull();
  expect(wordOf(pad('0x01', { size: 32 }))).toBe(1n);
});
