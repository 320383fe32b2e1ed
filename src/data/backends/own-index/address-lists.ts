import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import { NFT_TYPES } from '#evm/token-id.ts';
import type { NftHoldingRow, TokenHoldingRow } from '#indexer/read/tokens/holdings.ts';
import type { Answer, Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { blockRecords, nextBlocks } from './blocks.ts';
import { checksummed } from './parts/format.ts';
import type { Parties } from './parts/parties.ts';
import { nodeCannot } from './source/mined.ts';
import {
  addressKey,
  blockBefore,
  countKey,
  type Keys,
  placeBefore,
  tracePlace,
  uintKey,
  wholeKeys,
} from './source/position.ts';
import { assertWhole, cursorFields, type IndexSource, PAGE_SIZE } from './source/source.ts';
import { addressNft, type DescribedInstance, lookUpInstances, tokenInstance } from './tokens.ts';
import { internalTransactionPage } from './transactions/internal-transactions.ts';
import { transferPage } from './transactions/token-transfers.ts';
import { logPage } from './transactions/transaction-lists.ts';
import { transactionPage } from './transactions/transactions.ts';

type AddressListAnswers = Pick<
  Answers,
  | 'listAddressTransactions'
  | 'listAddressTokenTransfers'
  | 'listAddressLogs'
  | 'listAddressInternalTransactions'
  | 'listAddressBlocksValidated'
>;

/** What happened at one address, newest first. An address that nobody used has empty lists. Decision 38. */
export function addressListAnswers(source: IndexSource): AddressListAnswers {
  const { reader } = source;
  return {
    async listAddressTransactions({ path, query }, { position }) {
      assertWhole(source);
      const before = placeBefore(position, query);
      const page = await reader.transactions({
        ofAddress: ofAddress(path.address_hash, query.filter),
        limit: PAGE_SIZE,
        ...(before === undefined ? {} : { before }),
      });
      return { body: await transactionPage(source, page) };
    },

    async listAddressTokenTransfers({ path, query }, { position }) {
      assertWhole(source);
      const before = placeBefore(position, query);
      const page = await reader.tokenTransfers({
        ofAddress: ofAddress(path.address_hash, query.filter),
        limit: PAGE_SIZE,
        ...(query.token === undefined ? {} : { token: lowerCase(query.token) }),
        ...(query.type === undefined ? {} : { types: query.type }),
        ...(before === undefined ? {} : { before }),
      });
      return { body: await transferPage(source, page) };
    },

    async listAddressLogs({ path, query }, { position }) {
      assertWhole(source);
      const before = placeBefore(position, query);
      const page = await reader.addressLogs({
        address: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        ...(before === undefined ? {} : { before }),
      });
      return { body: await logPage(source, page) };
    },

    async listAddressInternalTransactions({ path, query }, { position }) {
      assertWhole(source);
      const before = tracePlace(position, query);
      const [page, { items: newest }] = await Promise.all([
        reader.addressInternalTransactions({
          address: lowerCase(path.address_hash),
          limit: PAGE_SIZE,
          ...(query.filter === undefined ? {} : { direction: query.filter }),
          ...(before === undefined ? {} : { before }),
        }),
        reader.blocks({ kind: 'block', limit: 1 }),
      ]);
      if (newest[0]?.internalTransactionCount === null) throw nodeCannot('trace');
      return { body: await internalTransactionPage(source, page) };
    },

    async listAddressBlocksValidated({ path, query }, { position }) {
      assertWhole(source);
      const before = blockBefore(position, query);
      const { items, hasMore } = await reader.validatedBlocks({
        miner: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        ...(before === undefined ? {} : { beforeNumber: before.number }),
      });
      const last = items.at(-1);
      return {
        body: {
          items: await blockRecords(source, items),
          next_page_params: hasMore && last !== undefined ? nextBlocks(source, last, items.length) : null,
        },
      };
    },
  };
}

function ofAddress(address: string, direction: 'from' | 'to' | undefined) {
  return { address: lowerCase(address), ...(direction === undefined ? {} : { direction }) };
}

type AddressTokenAnswers = Pick<
  Answers,
  'listAddressTokens' | 'listAddressTokenBalances' | 'listAddressNfts'
>;

/** Most balances in the list that has no pages. Decision 239. */
const MOST_BALANCES = 250;

/** What an address holds beside coins. An address that nobody used has empty lists. Decision 38. */
export function addressTokenAnswers(source: IndexSource): AddressTokenAnswers {
  const { reader } = source;
  return {
    async listAddressTokens({ path, query }, { position, signal }) {
      assertWhole(source);
      const keys = wholeKeys(
        { position, query },
        ['id'],
        ['fiat_value', 'token_name', 'token_type', 'value'],
      );
      const { items, hasMore } = await reader.tokenHoldings({
        holder: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        ...(query.type === undefined ? {} : { types: query.type }),
        ...(keys === undefined ? {} : { beforeId: countKey(keys.id) }),
      });
      const { body, ...rest } = await addressTokens(source, items, signal);
      const last = items.at(-1);
      const at = last === undefined ? undefined : { id: last.id };
      return {
        ...rest,
        body: {
          items: body,
          next_page_params:
            hasMore && at !== undefined
              ? { ...at, items_count: items.length, ...cursorFields(source, at) }
              : null,
        },
      };
    },

    async listAddressTokenBalances({ path }, { signal }) {
      assertWhole(source);
      const holder = lowerCase(path.address_hash);
      const { items } = await reader.tokenHoldings({ holder, limit: MOST_BALANCES });
      return addressTokens(source, items, signal);
    },

    async listAddressNfts({ path, query }, { position, signal }) {
      assertWhole(source);
      const after = nftAfter(position, query);
      const { type: wanted } = query;
      const { items, hasMore } = await reader.nftHoldings({
        holder: lowerCase(path.address_hash),
        limit: PAGE_SIZE,
        types: wanted === undefined ? NFT_TYPES : NFT_TYPES.filter(type => wanted.includes(type)),
        ...(after === undefined ? {} : { after }),
      });
      const tokens = items.map(({ token }) => token);
      const { instance, parties, unsettled } = await lookUpInstances(source, { ids: items, tokens }, signal);
      const last = items.at(-1);
      const at = last === undefined ? undefined : nftPosition(last);
      return {
        ...(unsettled === undefined ? {} : { unsettled }),
        body: {
          items: items.flatMap(({ token, tokenId, value }) => {
            const described = instance(token, tokenId);
            return described === undefined ? [] : [addressNft(described, value, parties)];
          }),
          next_page_params:
            hasMore && at !== undefined
              ? { ...at, items_count: items.length, ...cursorFields(source, at) }
              : null,
        },
      };
    },
  };
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
  return { token: addressKey(keys.token_contract_address_hash), tokenId: uintKey(keys.token_id) };
}

/** Records of balances, each with its instance where it is of a single id. */
async function addressTokens(
  source: IndexSource,
  rows: readonly TokenHoldingRow[],
  signal: AbortSignal,
): Promise<Answer<ExplorerSchemas['AddressToken'][]>> {
  const ids = rows.flatMap(({ token, tokenId }) =>
    tokenId === null ? [] : [{ token, tokenId, type: 'ERC-1155' as const }],
  );
  const tokens = rows.map(({ token }) => token);
  const { instance, parties, unsettled } = await lookUpInstances(source, { ids, tokens }, signal);
  return {
    ...(unsettled === undefined ? {} : { unsettled }),
    body: rows.map(row => addressToken(row, instance(row.token, row.tokenId), parties)),
  };
}

/** One balance of an address, with the instance where the balance is of a single id. */
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

/** Decision 3: `holders` is a number in this list, and only here. */
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
