import { readFileSync } from 'node:fs';
import { isAddress, isHex } from 'viem';
import { list, record } from '../lab/json.ts';

/** Position given to the recorded logs. */
export const PLACE = { transactionHash: `0x${'ab'.repeat(32)}`, logIndex: 7 } as const;

export const SEAPORT = '0x00000000006c3852cbef3e08e8df289169ede581';
/** Values of the recorded listing of an ERC-721 token. */
export const SELLER = '0x6c8ba1dafb22eae61e9cd3da724cbc3d164c27b9';
export const BUYER = '0x47921676a46ccfe3d80b161c7b4ddc8ed9e716b6';
/** Recipient of the fee in the recorded orders. */
export const FEES = '0x8de9c5a032463c561423387a9648c5c7bcc5bc90';
export const WETH = '0xc778417e063141139fce010982780140aa0cd5ab';

/** A recorded log of Seaport; see the README of the fixtures. */
export function recordedOrder(name: 'listing-erc721' | 'listing-erc1155' | 'bid-erc721') {
  const { address, topics, data } = record(
    JSON.parse(readFileSync(new URL(`../fixtures/seaport/${name}.json`, import.meta.url), 'utf8')),
  );
  if (typeof address !== 'string' || !isAddress(address) || !isHex(data)) throw new Error('not a log');
  return { address, topics: list(topics).filter(topic => isHex(topic)), data, ...PLACE };
}
