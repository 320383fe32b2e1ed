import { expect, test } from 'vitest';
import { nftSale, orderOf } from '#data/backends/own-index/insights/nft-transfers.ts';
import { type FulfilledOrder, fulfilledOrder } from '#evm/seaport.ts';
import type { NftTransferRow } from '#indexer/read/tokens/nft-transfers.ts';
import { BUYER, FEES, PLACE, recordedOrder, SEAPORT, SELLER, WETH } from '../../support/seaport-log.ts';

const ZERO = '0x0000000000000000000000000000000000000000';
const TOKEN = '0x0fa6a99c66085b25552930be7961d8928061a842';
const ID = 32372326957878872325869669322028881416287194712918919938492792330334129618945n;

/** The order in a recorded log. */
function order(name: Parameters<typeof recordedOrder>[0]): FulfilledOrder {
  const found = fulfilledOrder(recordedOrder(name));
  if (found === null) throw new Error(`${name} is no order`);
  return found;
}

/** The transfer that belongs to the recorded listing. */
function transfer(changes: Partial<NftTransferRow> = {}): NftTransferRow {
  return {
    blockNumber: 1,
    index: 0,
    blockHash: `0x${'01'.repeat(32)}`,
    timestamp: 0,
    transactionHash: PLACE.transactionHash,
    transactionIndex: 0,
    logIndex: 8,
    batchIndex: 0,
    selector: null,
    token: TOKEN,
    tokenType: 'ERC-721',
    from: SELLER,
    to: BUYER,
    tokenId: ID,
    amount: null,
    type: 'token_transfer',
    ...changes,
  };
}

const SOLD = { token_address: TOKEN, token_id: ID.toString(), amount: '1', token_type: 'erc721' };
const COIN = { token_address: ZERO, token_id: '0', token_type: 'native' };

test('the price of a listing is split among its receivers', () => {
  expect(nftSale(order('listing-erc721'), transfer())).toEqual({
    transaction_hash: PLACE.transactionHash,
    items_sold: [{ ...SOLD, from_address: SELLER, to_address: BUYER }],
    payment: [
      { ...COIN, amount: '487500000000000000', from_address: BUYER, to_address: SELLER },
      { ...COIN, amount: '12500000000000000', from_address: BUYER, to_address: FEES },
    ],
    marketplace_address: SEAPORT,
    marketplace_name: 'Seaport',
  });
});

test('the fee of a bid is part of the bidder’s payment', () => {
  const sale = nftSale(order('bid-erc721'), transfer({ from: BUYER, to: SELLER }));
  const weth = { token_address: WETH, token_id: '0', token_type: 'erc20', from_address: SELLER };

  expect(sale).toMatchObject({
    items_sold: [{ ...SOLD, from_address: BUYER, to_address: SELLER }],
    payment: [
      { ...weth, amount: '117000000000000000', to_address: BUYER },
      { ...weth, amount: '3000000000000000', to_address: FEES },
    ],
  });
});

test('for orders matched with one another no payer is made up', () => {
  const matched = { ...order('listing-erc721'), recipient: null };
  const sale = nftSale(matched, transfer({ to: FEES }));

  expect(sale.items_sold[0]).toMatchObject({ from_address: SELLER, to_address: FEES });
  expect(sale.payment.map(({ from_address }) => from_address)).toEqual([undefined, undefined]);
});

test.for([
  ['another id', { tokenId: 5n }],
  ['another contract', { token: WETH }],
  ['another transaction', { transactionHash: `0x${'99'.repeat(32)}` }],
  ['a later owner', { from: BUYER, to: FEES }],
] as const)('a transfer of %s is not part of the sale', ([, changes]) => {
  expect(orderOf(transfer(changes), [order('listing-erc721')])).toBeNull();
});

test('the transfer of the token in a bid is a sale', () => {
  const bid = order('bid-erc721');

  expect(orderOf(transfer({ from: BUYER, to: SELLER }), [bid])).toBe(bid);
  expect(orderOf(transfer({ from: BUYER, to: FEES }), [bid])).toBeNull();
});

test('a payment with the same numbers as the token is not the token', () => {
  const bid = order('bid-erc721');
  const money = transfer({ token: WETH, tokenId: 0n, from: SELLER });

  expect(orderOf(money, [bid])).toBeNull();
});

test('of a listing and its matching bid, the listing is used', () => {
  const listing = { ...order('listing-erc721'), logIndex: 1 };
  const bid = { ...order('bid-erc721'), logIndex: 7 };

  expect(orderOf(transfer({ to: SELLER }), [bid, listing])).toBe(listing);
});

test('each of two sales of one token in a transaction belongs to its own transfer', () => {
  const first = { ...order('listing-erc721'), logIndex: 3 };
  const second = { ...order('listing-erc721'), logIndex: 9 };

  expect(orderOf(transfer({ logIndex: 4 }), [first, second])).toBe(first);
  expect(orderOf(transfer({ logIndex: 10 }), [first, second])).toBe(second);
});
