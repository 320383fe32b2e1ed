import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Page } from '#indexer/read/page.ts';
import type { TokenTransferRow } from '#indexer/read/tokens/token-transfers.ts';
import type { Answers } from '../../port/backend.ts';
import { loadParties } from '../parts/parties.ts';
import { tokenTransfer } from '../records/token-transfer.ts';
import { placeBefore } from '../source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  cursorFields,
  type IndexSource,
  PAGE_SIZE,
} from '../source/source.ts';

/** All token transfers of one chain, newest first. */
export function tokenTransferAnswers(source: IndexSource): Pick<Answers, 'listTokenTransfers'> {
  return {
    async listTokenTransfers({ query }, { position }) {
      assertCaughtUp(source);
      const before = placeBefore(position, query);
      const page = await source.reader.tokenTransfers({
        limit: PAGE_SIZE,
        ...(before === undefined ? {} : { before }),
      });
      assertNotCutOff(source, page);
      return { body: await transferPage(source, page) };
    },
  };
}

/** The page envelope around token transfers, wherever they were asked for. */
export async function transferPage(
  source: IndexSource,
  { items, hasMore }: Page<TokenTransferRow>,
): Promise<ExplorerSchemas['TokenTransfersPage']> {
  const { reader } = source;
  const parties = await loadParties(reader, {
    addresses: items.flatMap(({ from, to }) => [from, to]),
    tokens: items.map(({ token }) => token),
  });
  const last = items.at(-1);
  const position = last === undefined ? undefined : { block_number: last.blockNumber, index: last.index };
  return {
    items: items.map(row => tokenTransfer(row, reader.abis, parties)),
    next_page_params:
      hasMore && position !== undefined ? { ...position, ...cursorFields(source, position) } : null,
  };
}
