import { expect, test } from 'vitest';
import { abiEntries } from '#data/pages/browser/address/abi-entries.ts';

const signatures = (abi: unknown) => abiEntries(JSON.stringify(abi)).map(({ signature }) => signature);

test('functions and events of an ABI are listed in Solidity’s notation', () => {
  const transfer = {
    type: 'function',
    name: 'transfer',
    inputs: [
      { name: 'to', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
    outputs: [{ name: '', type: 'bool' }],
    stateMutability: 'nonpayable',
  };
  const order = { name: 'orders', type: 'tuple[]', components: [{ name: 'id', type: 'bytes32' }] };

  expect(signatures([transfer])).toEqual(['transfer(address to, uint256 value) → bool']);
  expect(signatures([{ type: 'function', name: 'fill', inputs: [order] }])).toEqual([
    'fill((bytes32 id)[] orders)',
  ]);
  expect(
    signatures([{ type: 'event', name: 'Paid', inputs: [{ name: 'by', type: 'address', indexed: true }] }]),
  ).toEqual(['Paid(address indexed by)']);
  expect(signatures([{ type: 'receive', stateMutability: 'payable' }])).toEqual(['receive()']);
});

test('mutability is read from ABIs of old compilers, too', () => {
  const [old] = abiEntries(JSON.stringify([{ type: 'function', name: 'total', inputs: [], constant: true }]));

  expect(old?.mutability).toBe('view');
});

test('an invalid ABI has no entries', () => {
  for (const abi of ['', 'no JSON', '{}', 'null', '[null, 3, "x"]', '[{"type":7,"inputs":"none"}]']) {
    expect(() => abiEntries(abi)).not.toThrow();
  }
  expect(abiEntries('{}')).toEqual([]);
});
