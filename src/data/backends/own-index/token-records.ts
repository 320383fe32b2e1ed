import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { TokenPosition } from '#indexer/read/tokens/token-list.ts';
import type { Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { checksummed } from './parts/format.ts';
import { loadParties, tokenRecord } from './parts/parties.ts';
import { countKey, cursorAddress, type Keys, transferPosition, wholeKeys } from './source/position.ts';
import { assertWhole, type IndexSource, missingFrom, nextPage, PAGE_SIZE } from './source/source.ts';
import { holderAfter, holderPage } from './token-holders.ts';
import { transferPage } from './transactions/token-transfers.ts';

/** Records and lists of tokens. Needs an index of the whole chain. */
export function tokenRecordAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listTokens({ query }, { position }) {
      assertWhole(source);
      const after = tokenAfter(position, query);
      const { q: prefix, type: wanted } = query;
      // An index has no tokens of this standard.
      const types = wanted?.filter(type => type !== 'ERC-404');
      const isReverse = query.sort === 'holders_count' && query.order === 'asc';
      const page = await reader.tokenList({
        first: isReverse ? 'fewest' : 'most',
        limit: PAGE_SIZE,
        types,
        prefix,
        after,
      });
      const rates = await source.rates.ofTokens(page.items);
      return {
        body: {
          items: page.items.map(row => tokenRecord(row, rates)),
          next_page_params: nextPage(source, page, tokenPosition),
        },
      };
    },

    async getToken({ path }) {
      return { body: await knownToken(source, path.address_hash) };
    },

    async getTokenCounters({ path }) {
      const [{ holders }, { transfersOfToken }] = await Promise.all([
        knownToken(source, path.address_hash),
        reader.addressCounts(lowerCase(path.address_hash)),
      ]);
      return { body: { token_holders_count: holders, transfers_count: transfersOfToken.toString() } };
    },

    async listTransfersOfToken({ path, query }, { position }) {
      const before = transferPosition(position, query);
      await knownToken(source, path.address_hash);
      const page = await reader.tokenTransfers({
        token: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        before,
      });
      return { body: await transferPage(source, page) };
    },

    async listTokenHolders({ path, query }, { position }) {
      const after = holderAfter(position, query);
      const [page] = await Promise.all([
        reader.tokenHolders({
          token: lowerCase(path.address_hash),
          limit: PAGE_SIZE,
          after,
        }),
        knownToken(source, path.address_hash),
      ]);
      return { body: await holderPage(source, page) };
    },
  } satisfies Answers;
}

/** @throws BackendError when the address is no known token. */
async function knownToken(source: IndexSource, hash: string): Promise<ExplorerSchemas['Token']> {
  assertWhole(source);
  const address = lowerCase(hash);
  const token = (await loadParties(source, { addresses: [], tokens: [address] })).token(address);
  if (token === null) throw missingFrom(source, `Token ${hash}`);
  return token;
}

function tokenPosition({ address, holderCount }: TokenPosition) {
  return { contract_address_hash: checksummed(address), holders_count: holderCount };
}

function tokenAfter(position: CursorPosition | undefined, query: Keys): TokenPosition | undefined {
  const needed = ['contract_address_hash', 'holders_count'];
  const keys = wholeKeys({ position, query }, needed, ['fiat_value', 'is_name_null', 'market_cap', 'name']);
  if (keys === undefined) return undefined;
  // A number in our cursor, but text in the query parameters.
  const holderCount = countKey(Number(keys.holders_count));
  return { address: cursorAddress(keys.contract_address_hash), holderCount };
}
