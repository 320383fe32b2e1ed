import { lowerCase } from '#evm/address.ts';
import { NFT_TYPES } from '#evm/token-id.ts';
import type { NftHoldingRow } from '#indexer/read/tokens/nft-holdings.ts';
import type { Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { addressKey, countKey, uintKey, wholeKeys } from './cursor/addresses-position.ts';
import type { Keys } from './cursor/position.ts';
import { checksummed } from './parts/text.ts';
import { addressToken } from './records/address-token.ts';
import { addressNft } from './records/token-instance.ts';
import { assertWhole, cursorFields, type IndexSource, PAGE_SIZE } from './source/source.ts';
import { lookUpInstances } from './token-metadata.ts';

type AddressTokenAnswers = Pick<Answers, 'listAddressTokens' | 'listAddressNfts'>;

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
      const ids = items.flatMap(({ token, tokenId }) =>
        tokenId === null ? [] : [{ token, tokenId, type: 'ERC-1155' as const }],
      );
      const tokens = items.map(({ token }) => token);
      const { instance, parties, unsettled } = await lookUpInstances(source, { ids, tokens }, signal);
      const last = items.at(-1);
      const at = last === undefined ? undefined : { id: last.id };
      return {
        ...(unsettled === undefined ? {} : { unsettled }),
        body: {
          items: items.map(row => addressToken(row, instance(row.token, row.tokenId), parties)),
          next_page_params:
            hasMore && at !== undefined
              ? { ...at, items_count: items.length, ...cursorFields(source, at) }
              : null,
        },
      };
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
