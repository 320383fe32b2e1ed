import { encodeAbiParameters, encodeEventTopics, type Hex, isHex, toEventSelector } from 'viem';
import { expect, test } from 'vitest';
import { fulfilledOrder, ORDER_FULFILLED, ORDER_FULFILLED_TOPIC } from '../../src/evm/seaport.ts';
import { BUYER, FEES, PLACE, recordedOrder, SEAPORT, SELLER, WETH } from '../support/seaport-log.ts';

const ZERO = '0x0000000000000000000000000000000000000000';

/** A log of the published event with these arguments. */
function encoded(changes: { recipient?: Hex; itemType?: number } = {}) {
  const item = { itemType: changes.itemType ?? 2, token: WETH, identifier: 5n, amount: 1n } as const;
  const topics = encodeEventTopics({
    abi: [ORDER_FULFILLED],
    eventName: 'OrderFulfilled',
    args: { offerer: SELLER, zone: ZERO },
  });
  const data = encodeAbiParameters(
    ORDER_FULFILLED.inputs.filter(input => !('indexed' in input)),
    [`0x${'cd'.repeat(32)}`, changes.recipient ?? BUYER, [item], []],
  );
  return { address: SEAPORT, topics: topics.filter(topic => isHex(topic)), data, ...PLACE } as const;
}

test('the topic is the hash of the published event', () => {
  expect(toEventSelector(ORDER_FULFILLED)).toBe(ORDER_FULFILLED_TOPIC);
});

test('a recorded listing of an ERC-721 token has the items given and received', () => {
  const order = fulfilledOrder(recordedOrder('listing-erc721'));

  expect(order).toEqual({
    marketplace: SEAPORT,
    ...PLACE,
    offerer: SELLER,
    recipient: BUYER,
    offer: [
      {
        kind: 'erc721',
        token: '0x0fa6a99c66085b25552930be7961d8928061a842',
        tokenId: 32372326957878872325869669322028881416287194712918919938492792330334129618945n,
        amount: 1n,
      },
    ],
    consideration: [
      { kind: 'native', token: ZERO, tokenId: 0n, amount: 487_500_000_000_000_000n, recipient: SELLER },
      { kind: 'native', token: ZERO, tokenId: 0n, amount: 12_500_000_000_000_000n, recipient: FEES },
    ],
  });
});

test('a recorded bid requests the token and offers money, with the fee next to the token', () => {
  const order = fulfilledOrder(recordedOrder('bid-erc721'));

  expect(order?.offer).toEqual([
    { kind: 'erc20', token: WETH, tokenId: 0n, amount: 120_000_000_000_000_000n },
  ]);
  expect(order?.consideration.map(({ kind, recipient }) => ({ kind, recipient }))).toEqual([
    { kind: 'erc721', recipient: SELLER },
    { kind: 'erc20', recipient: FEES },
  ]);
});

test('a recorded listing of an ERC-1155 token has its amount', () => {
  expect(fulfilledOrder(recordedOrder('listing-erc1155'))?.offer).toEqual([
    {
      kind: 'erc1155',
      token: '0x2ebecabbbe8a8c629b99ab23ed154d74cd5d4342',
      tokenId: 110_249n,
      amount: 1n,
    },
  ]);
});

test('an order matched with another one has no recipient', () => {
  expect(fulfilledOrder(encoded({ recipient: ZERO }))?.recipient).toBeNull();
});

test.for([
  [2, 'erc721'],
  [4, 'erc721'],
  [5, 'erc1155'],
] as const)('an item of type %i is %s', ([itemType, kind]) => {
  expect(fulfilledOrder(encoded({ itemType }))?.offer[0]?.kind).toBe(kind);
});

test.for([
  ['an item of an unknown type', encoded({ itemType: 9 })],
  ['no data', { ...encoded(), data: '0x' }],
  ['data that ends early', { ...encoded(), data: encoded().data.slice(0, -64) }],
  ['too few topics', { ...encoded(), topics: [ORDER_FULFILLED_TOPIC] }],
  ['another topic', { ...encoded(), topics: [`0x${'00'.repeat(32)}`, ...encoded().topics.slice(1)] }],
  ['no topics', { ...encoded(), topics: [] }],
] as const)('a log that only resembles an order is null: %s', ([, log]) => {
  const data: Hex = `0x${log.data.slice(2)}`;

  expect(fulfilledOrder({ ...log, data })).toBeNull();
});
