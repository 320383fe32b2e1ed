import { type Json, type JsonObject, list } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { gathered } from './gathered-values.ts';
import type { Target } from './judge.ts';
import { withQuery } from './paths.ts';
import type { Tester } from './tester.ts';

/**
 * Member that a flag adds to each record, by operation. Documents of NFTs may be unreachable, but the member says so.
 */
const ADDED: Readonly<Record<string, readonly (readonly [query: string, member: string])[]>> = {
  listTokenBalances: [['metadata=true&token_type=native', 'decimals']],
  getTokenPrices: [
    ['include_historical_prices=true', 'historical_prices'],
    ['include_holders=true', 'holders'],
  ],
  listContractNfts: [['include_owners=true', 'owner_addresses']],
  getNft: [['include_owners=true', 'owner_addresses']],
  listNftTransfers: [['metadata=true&include_owners=true', 'nft_metadata']],
  listTokenNftTransfers: [['metadata=true&include_owners=true&sales=true', 'nft_metadata']],
};

/** Tests records that are looked up, not queried: from each configured chain, and with the members that flags add. */
export async function tryRecordRules(tester: Tester, target: Target, path: string): Promise<void> {
  const allowed = target.statuses.has('404') ? [200, 404] : [200];
  for (const chain of gathered(tester.found, 'chain')) {
    const one = withQuery(path, `chain_id=${chain}`);
    const { status, headers } = await tester.check(target, { path: one }, code => allowed.includes(code));
    if (status === 200 && headers['x-chain-id'] !== chain)
      tester.report(`${target.id}: ${one}: X-Chain-Id is ${headers['x-chain-id']}`);
  }
  for (const [query, member] of ADDED[target.id] ?? []) {
    const asked = withQuery(path, query);
    const body = await tester.body(target, asked);
    if (body === undefined) continue;
    const records = recordsOf(body);
    if (records.length === 0) tester.report(`${target.id}: ${asked}: has no records`);
    if (!records.every(record => member in record))
      tester.report(`${target.id}: ${asked}: has a record without ${member}`);
  }
}

function recordsOf(body: Json | undefined): JsonObject[] {
  return isObject(body) ? list(body, 'data').filter(entry => isObject(entry)) : [];
}
