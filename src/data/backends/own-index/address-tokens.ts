import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import { type InstanceKey, NFT_TYPES, type NftType } from '#evm/token-id.ts';
import type { NftHoldingRow, TokenHoldingRow } from '#indexer/read/tokens/holdings.ts';
import type { Answer, Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { checksummed } from './parts/format.ts';
import type { Parties } from './parts/parties.ts';
import { countKey, cursorAddress, type Keys, uintKey, wholeKeys } from './source/position.ts';
import { assertWhole, type IndexSource, nextPage, PAGE_SIZE } from './source/source.ts';
import {
  addressNft,
  type DescribedInstance,
  type DescribedInstances,
  lookUpInstances,
  tokenInstance,
} from './tokens.ts';

/** Maximum number of balances in the unpaged list (Decision 239). */
const MAX_BALANCES = 250;

/** Tokens and NFTs of an address. An unused address has empty lists (Decision 38). */
export function addressTokenAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listAddressTokens({ path, query }, { position, signal }) {
      assertWhole(source);
      const keys = wholeKeys(
        { position, query },
        ['id'],
        ['fiat_value', 'token_name', 'token_type', 'value'],
      );
      const page = await reader.tokenHoldings({
        holder: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        types: query.type,
        beforeId: keys === undefined ? undefined : countKey(keys.id),
      });
      const { body, ...rest } = await addressTokens(source, page.items, signal);
      return {
        ...rest,
        body: {
          items: body,
          next_page_params: nextPage(source, page, ({ id }) => ({ id })),
        },
      };
    },

    async listAddressTokenBalances({ path }, { signal }) {
      assertWhole(source);
      const holder = lowerCase(path.address_hash);
      const { items } = await reader.tokenHoldings({ holder, limit: MAX_BALANCES });
      return addressTokens(source, items, signal);
    },

    async listAddressNfts({ path, query }, { position, signal }) {
      assertWhole(source);
      const after = nftAfter(position, query);
      const page = await reader.nftHoldings({
        holder: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        types: nftTypes(query.type),
        after,
      });
      const { items } = page;
      const tokens = items.map(({ token }) => token);
      const { instance, parties, unsettled } = await lookUpInstances(source, { ids: items, tokens }, signal);
      return {
        ...(unsettled === undefined ? {} : { unsettled }),
        body: {
          items: nftRecords(items, instance, parties),
          next_page_params: nextPage(source, page, nftPosition),
        },
      };
    },

    async listAddressNftCollections({ path, query }, { position, signal }) {
      assertWhole(source);
      const after = collectionAfter(position, query);
      const page = await reader.nftCollections({
        holder: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        types: nftTypes(query.type),
        after,
      });
      const { items } = page;
      const ids = items.flatMap(({ holdings }) => holdings);
      const tokens = items.map(({ token }) => token);
      const { instance, parties, unsettled } = await lookUpInstances(source, { ids, tokens }, signal);
      return {
        ...(unsettled === undefined ? {} : { unsettled }),
        body: {
          items: items.map(({ token, amount, holdings }) => ({
            token: parties.token(token),
            amount: amount?.toString() ?? null,
            token_instances: nftRecords(holdings, instance, parties),
          })),
          next_page_params: nextPage(source, page, ({ token, type }) => ({
            token_contract_address_hash: checksummed(token),
            token_type: type,
          })),
        },
      };
    },
  } satisfies Answers;
}

/** Requested NFT standards that an index knows; it has no tokens of others. */
function nftTypes(wanted: readonly string[] | undefined): readonly NftType[] {
  return wanted === undefined ? NFT_TYPES : NFT_TYPES.filter(type => wanted.includes(type));
}

/** Records of NFTs, without those that a block removed during the look-up. */
function nftRecords(
  rows: readonly NftHoldingRow[],
  instance: DescribedInstances['instance'],
  parties: Parties,
): ExplorerSchemas['AddressNft'][] {
  return rows.flatMap(row => {
    const described = instance(row);
    return described === undefined ? [] : [addressNft(described, row.value, parties)];
  });
}

function collectionAfter(position: CursorPosition | undefined, query: Keys) {
  const keys = wholeKeys({ position, query }, ['token_contract_address_hash', 'token_type']);
  if (keys === undefined) return undefined;
  return { token: cursorAddress(keys.token_contract_address_hash), type: typeKey(keys.token_type) };
}

/** Reads a token standard from a position. Standards unknown to the index sort after those it has. */
function typeKey(value: unknown): NftType {
  return NFT_TYPES.find(type => type === value) ?? 'ERC-1155';
}

function nftPosition({ token, tokenId, type }: NftHoldingRow) {
  return {
    token_contract_address_hash: checksummed(token),
    token_id: tokenId.toString(),
    token_type: type,
  };
}

function nftAfter(position: CursorPosition | undefined, query: Keys) {
  const keys = wholeKeys({ position, query }, ['token_contract_address_hash', 'token_id', 'token_type']);
  if (keys === undefined) return undefined;
  return {
    token: cursorAddress(keys.token_contract_address_hash),
    tokenId: uintKey(keys.token_id),
    type: typeKey(keys.token_type),
  };
}

/** Records of balances. A balance of a single id includes its instance. */
async function addressTokens(
  source: IndexSource,
  rows: readonly TokenHoldingRow[],
  signal: AbortSignal,
): Promise<Answer<ExplorerSchemas['AddressToken'][]>> {
  const ids = rows.flatMap(row => instanceOf(row) ?? []);
  const tokens = rows.map(({ token }) => token);
  const { instance, parties, unsettled } = await lookUpInstances(source, { ids, tokens }, signal);
  return {
    ...(unsettled === undefined ? {} : { unsettled }),
    body: rows.map(row => {
      const id = instanceOf(row);
      return addressToken(row, id && instance(id), parties);
    }),
  };
}

/** Instance of a balance. Only ERC-1155 has balances of single ids. */
function instanceOf({ token, tokenId }: TokenHoldingRow): InstanceKey | undefined {
  return tokenId === null ? undefined : { token, tokenId, type: 'ERC-1155' };
}

/** Record of one balance, with its instance if it is of a single id. */
function addressToken(
  row: TokenHoldingRow,
  instance: DescribedInstance | undefined,
  parties: Parties,
): ExplorerSchemas['AddressToken'] {
  return {
    ...(instance === undefined ? {} : { token_instance: tokenInstance(instance, parties) }),
    value: row.value.toString(),
    token_id: row.tokenId?.toString() ?? null,
    token: tokenInfo(parties.token(row.token)),
  };
}

/** Token of a balance. `holders` is a number only in this list (Decision 3). */
function tokenInfo(token: ExplorerSchemas['Token'] | null): ExplorerSchemas['AddressTokenInfo'] | null {
  if (token === null) return null;
  const { name, decimals, symbol, address, type, exchange_rate, total_supply, holders } = token;
  return {
    name,
    decimals,
    symbol,
    address,
    type,
    exchange_rate,
    total_supply,
    holders: holders === null ? null : Number(holders),
  };
}
