import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Page } from '#indexer/read/page.ts';
import type { TokenHolderRow } from '#indexer/read/tokens/token-holders.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { checksummed } from './parts/format.ts';
import { loadParties } from './parts/parties.ts';
import { cursorAddress, type Keys, uintKey, wholeKeys } from './source/position.ts';
import { type IndexSource, nextPage } from './source/source.ts';

/** Page of holders of a token or of one of its ids. */
export async function holderPage(
  source: IndexSource,
  page: Page<TokenHolderRow>,
): Promise<ExplorerSchemas['TokenHoldersPage']> {
  const { items } = page;
  const parties = await loadParties(source, { addresses: items.map(({ holder }) => holder) });
  return {
    items: items.map(({ holder, tokenId, value }) => ({
      address: parties.address(holder),
      value: value.toString(),
      token_id: tokenId?.toString() ?? null,
    })),
    next_page_params: nextPage(source, page, holderPosition),
  };
}

function holderPosition({ holder, tokenId, value }: TokenHolderRow) {
  return {
    value: value.toString(),
    address_hash: checksummed(holder),
    ...(tokenId === null ? {} : { token_id: tokenId.toString() }),
  };
}

/** Reads the position of a list of holders. @throws BackendError `rejected` for an incomplete position. */
export function holderAfter(position: CursorPosition | undefined, query: Keys): TokenHolderRow | undefined {
  const keys = wholeKeys({ position, query }, ['value', 'address_hash'], ['token_id']);
  if (keys === undefined) return undefined;
  const { value, address_hash: holder, token_id: id } = keys;
  return {
    value: uintKey(value),
    holder: cursorAddress(holder),
    tokenId: id === undefined || id === 'null' ? null : uintKey(id),
  };
}
