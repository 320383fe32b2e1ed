import { readFileSync } from 'node:fs';
import { isAddress, isHex } from 'viem';
import { list, record } from './json.ts';

/** Where the recorded logs are said to have been. */
export const PLACE = { transactionHash: `0x${'ab'.repeat(32)}`, logIndex: 7 } as const;

/** A recorded log of Seaport; see the README beside it. */
export function recordedOrder(name: 'listing-erc721' | 'listing-erc1155' | 'bid-erc721') {
  const { address, topics, data } = record(
    JSON.parse(readFileSync(new URL(`../fixtures/seaport/${name}.json`, import.meta.url), 'utf8')),
  );
  if (typeof address !== 'string' || !isAddress(address) || !isHex(data)) throw new Error('not a log');
  return { address, topics: list(topics).filter(topic => isHex(topic)), data, ...PLACE };
}
