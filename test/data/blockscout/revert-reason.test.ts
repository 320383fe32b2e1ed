import { encodeAbiParameters, encodeErrorResult, parseAbi } from 'viem';
import { expect, test } from 'vitest';
import { revertReasonOrNull } from '#data/backends/blockscout/normalise/decoded.ts';
import { transactionRecord } from '#data/backends/blockscout/normalise/transaction.ts';
import { fixtureOf } from '../../lab/blockscout-fixtures.ts';

test('every generation has the same revert reason, in any form', () => {
  const reasons = ['v5', 'v8', 'v11'].map(
    name => transactionRecord(fixtureOf('getTransaction', `${name}-reverted`).body).revert_reason,
  );

  expect(reasons).toEqual(Array(3).fill('UniswapV2Router: EXPIRED'));
});

const errors = parseAbi([
  'error Error(string reason)',
  'error Panic(uint256 code)',
  'error Poor(uint256 has, string why)',
]);
const panic = encodeErrorResult({ abi: errors, errorName: 'Panic', args: [0x11n] });
const poor = encodeErrorResult({ abi: errors, errorName: 'Poor', args: [1n, 'broke'] });

/** Text as hexadecimal without 0x. */
function bare(text: string): string {
  return Buffer.from(text).toString('hex');
}

test.each([
  ['nothing', null, null],
  ['no data', { raw: null }, null],
  ['empty data', { raw: '0x' }, null],
  ['a panic in hex', { raw: panic }, 'Panic(0x11): arithmetic overflow or underflow'],
  ['a panic in hex without 0x', { raw: panic.slice(2) }, 'Panic(0x11): arithmetic overflow or underflow'],
  ['an unknown error', { raw: poor }, poor],
  ['data with a truncated Error(string)', { raw: '0x08c379a0ffff' }, '0x08c379a0ffff'],
  ['printable data', { raw: bare('Only the owner') }, 'Only the owner'],
  ['data without 0x that is partly unprintable', { raw: `${bare('Only')}00ff` }, `0x${bare('Only')}00ff`],
  ['data as long as a selector', { raw: bare('Only') }, `0x${bare('Only')}`],
  ['a printable word', { raw: bare('W'.repeat(32)) }, `0x${bare('W'.repeat(32))}`],
  ['text of an old version', { raw: 'SafeMath: subtraction overflow' }, 'SafeMath: subtraction overflow'],
  ['a bare string', 'out of tea', 'out of tea'],
  [
    'ABI-encoded words that are not text',
    encodeAbiParameters([{ type: 'bool' }], [true]),
    `0x${'1'.padStart(64, '0')}`,
  ],
  [
    'a decoded panic',
    {
      method_call: 'Panic(uint256 code)',
      method_id: '4e487b71',
      parameters: [{ name: 'code', type: 'uint256', value: '18' }],
    },
    'Panic(0x12): division or modulo by zero',
  ],
  [
    'a decoded error of the contract',
    {
      method_call: 'Poor(uint256 has, string why)',
      method_id: poor.slice(2, 10),
      parameters: [
        { name: 'has', type: 'uint256', value: '1' },
        { name: 'why', type: 'string', value: 'a "b"' },
      ],
    },
    'Poor(1, "a \\"b\\"")',
  ],
])('the revert reason of %s is text', (_name, upstream, expected) => {
  expect(revertReasonOrNull(upstream)).toBe(expected);
});
