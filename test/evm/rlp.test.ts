import fc from 'fast-check';
import { toRlp } from 'viem';
import { expect, test } from 'vitest';
import { type RlpItem, rlp } from '#evm/proofs/rlp.ts';

const { item } = fc.letrec<{ item: RlpItem }>(tie => ({
  item: fc.oneof(
    { depthSize: 'small' },
    fc.uint8Array({ maxLength: 70 }),
    fc.array(tie('item'), { maxLength: 20 }),
  ),
}));

test('any structure is encoded as viem encodes it', () => {
  fc.assert(fc.property(item, one => Buffer.compare(rlp(one), toRlp(one, 'bytes')) === 0));
});

test.for([55, 56, 255, 256, 65_535, 65_536])(
  '%s bytes, and a list as long, are encoded as viem encodes them',
  length => {
    const bytes = new Uint8Array(length).fill(1);
    const list = Array.from({ length }, () => Uint8Array.of(1));

    expect(rlp(bytes)).toEqual(Buffer.from(toRlp(bytes, 'bytes')));
    expect(rlp(list)).toEqual(Buffer.from(toRlp(list, 'bytes')));
  },
);

test('the byte of a type comes first', () => {
  expect(rlp([Uint8Array.of(1)], 0x7e)).toEqual(Buffer.of(0x7e, 0xc1, 1));
});
