import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSearch } from '#data/pages/browser/search-text.ts';

const HASH = `0x${'0123456789abcdef'.repeat(4)}`;
const ADDRESS = `0x${'ab12'.repeat(10)}`;
const hex = (characters: number) =>
  fc.string({
    unit: fc.constantFrom(...'0123456789abcdefABCDEF'),
    minLength: characters,
    maxLength: characters,
  });

describe('a value is found in every form in which it is printed or pasted', () => {
  test.each([
    ['1300', '1300'],
    ['1,300', '1300'],
    ['#1300', '1300'],
    ['#1,234,567', '1234567'],
    ['1 300', '1300'],
    ['1’300', '1300'],
    ['block 1300', '1300'],
    ['Block #1,300', '1300'],
    ['block: 7', '7'],
    ['0x514', '1300'],
    ['007', '7'],
  ])('the number of a block: %s', (typed, text) => {
    expect(readSearch(typed)).toEqual({ text, kind: 'block' });
  });

  test.each([
    [HASH, 'hash'],
    [HASH.slice(2), 'hash'],
    [HASH.toUpperCase(), 'hash'],
    [` "${HASH}", `, 'hash'],
    [`\u200b${HASH}\u200b`, 'hash'],
    [`tx ${HASH}`, 'hash'],
  ])('a hash: %s', (typed, kind) => {
    expect(readSearch(typed)).toEqual({ text: HASH, kind });
  });

  test('a hash or an address, whatever its letter case and prefix', () => {
    fc.assert(
      fc.property(hex(64), hex(40), fc.constantFrom('', '0x', '0X'), (hash, address, prefix) => {
        expect(readSearch(prefix + hash)).toEqual({ text: `0x${hash.toLowerCase()}`, kind: 'hash' });
        expect(readSearch(prefix + address)).toEqual({ text: `0x${address.toLowerCase()}`, kind: 'address' });
      }),
    );
  });

  test('a number with separators, whatever its size', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 10 ** 15 - 1 }),
        fc.constantFrom(',', "'", '_', ' ', '\u202f'),
        (number, mark) => {
          const printed = number.toLocaleString('en').replaceAll(',', mark);
          expect(readSearch(printed)).toEqual({ text: String(number), kind: 'block' });
          expect(readSearch(`block #${printed}`)).toEqual({ text: String(number), kind: 'block' });
        },
      ),
    );
  });
});

describe('the address of another explorer’s page names record and chain', () => {
  test.each([
    [
      `https://etherscan.io/tx/${HASH}`,
      { text: HASH, kind: 'transaction', chainId: 1, host: 'etherscan.io' },
    ],
    [
      `etherscan.io/address/${ADDRESS}#code`,
      { text: ADDRESS, kind: 'address', chainId: 1, host: 'etherscan.io' },
    ],
    [
      `https://www.basescan.org/token/${ADDRESS}`,
      { text: ADDRESS, kind: 'token', chainId: 8453, host: 'basescan.org' },
    ],
    [
      `https://etherscan.io/token/${ADDRESS}?a=5`,
      { text: ADDRESS, kind: 'instance', instanceId: '5', chainId: 1, host: 'etherscan.io' },
    ],
    [
      `https://etherscan.io/nft/${ADDRESS}/77`,
      { text: ADDRESS, kind: 'instance', instanceId: '77', chainId: 1, host: 'etherscan.io' },
    ],
    [
      `https://base.blockscout.com/token/${ADDRESS}/instance/5?tab=metadata`,
      { text: ADDRESS, kind: 'instance', instanceId: '5', chainId: 8453, host: 'base.blockscout.com' },
    ],
    [
      'https://polygonscan.com/block/1300',
      { text: '1300', kind: 'block', chainId: 137, host: 'polygonscan.com' },
    ],
    [`https://scan.example/tx/${HASH}?tab=logs`, { text: HASH, kind: 'transaction', host: 'scan.example' }],
    [`http://localhost:3180/chain/10/tx/${HASH}`, { text: HASH, kind: 'transaction', chainId: 10 }],
    [`/chain/10/block/${HASH}`, { text: HASH, kind: 'block', chainId: 10 }],
    [`/tx/${HASH}`, { text: HASH, kind: 'transaction' }],
    [`eip155:8453:${ADDRESS}`, { text: ADDRESS, kind: 'address', chainId: 8453 }],
  ])('%s', (typed, expected) => {
    expect(readSearch(typed)).toEqual(expected);
  });
});

describe('another text stays as it is', () => {
  test.each([
    'usds',
    'alice.eth',
    'US Dollar Sample',
    '1,30',
    '0x',
    'deadbeef',
    'https://example.org/',
    '12 monkeys',
    '',
  ])('%s', typed => {
    expect(readSearch(typed)).toEqual({ text: typed });
  });

  test('and no text whatever fails', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.webUrl({ withFragments: true })), typed => {
        const { text, kind } = readSearch(typed);
        if (kind === 'block' || kind === 'hash') expect(text).toMatch(/^(?:\d{1,15}|0x[0-9a-f]{64})$/);
      }),
    );
  });
});
