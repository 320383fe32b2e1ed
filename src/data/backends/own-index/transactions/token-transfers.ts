import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import type { Abis } from '#evm/abi/abi.ts';
import type { Page } from '#indexer/read/page.ts';
import type { TokenTransferRow } from '#indexer/read/tokens/token-transfers.ts';
import type { Answers } from '../../port/backend.ts';
import { methodOf } from '../parts/decoded.ts';
import { amount, microsecondTimestamp } from '../parts/format.ts';
import { loadParties, type Parties } from '../parts/parties.ts';
import { transferPosition } from '../source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  cursorFields,
  type IndexSource,
  PAGE_SIZE,
} from '../source/source.ts';

/** All token transfers of one chain, newest first. */
export function tokenTransferAnswers(source: IndexSource) {
  return {
    async listTokenTransfers({ query }, { position }) {
      assertCaughtUp(source);
      const before = transferPosition(position, query);
      const page = await source.reader.tokenTransfers({
        limit: PAGE_SIZE,
        before,
      });
      assertNotCutOff(source, page);
      return { body: await transferPage(source, page) };
    },
  } satisfies Answers;
}

/** Page of token transfers, for every list of them. */
export async function transferPage(
  source: IndexSource,
  { items, hasMore }: Page<TokenTransferRow>,
): Promise<ExplorerSchemas['TokenTransfersPage']> {
  const { reader } = source;
  const parties = await loadParties(source, {
    addresses: items.flatMap(({ from, to }) => [from, to]),
    tokens: items.map(({ token }) => token),
  });
  const last = items.at(-1);
  return {
    items: items.map(row => tokenTransfer(row, reader.abis, parties)),
    next_page_params: hasMore && last !== undefined ? nextTransfers(source, last) : null,
  };
}

/** Position behind a transfer, with the keys of the document: log indexes, which mean the same at every back end. */
function nextTransfers(source: IndexSource, last: TokenTransferRow) {
  const { blockNumber, logIndex, batchIndex, tokenType } = last;
  const log = { block_number: blockNumber, index: logIndex };
  if (tokenType !== 'ERC-1155') return { ...log, ...cursorFields(source, log) };
  // The page may end inside a batch, where only its writer can go on.
  const position = { ...log, batch_log_index: logIndex, index_in_batch: batchIndex };
  return { ...position, ...cursorFields(source, position) };
}

type Embedded = ExplorerSchemas['EmbeddedTokenTransfer'];

/** Record of a token transfer inside a transaction. */
export function embeddedTokenTransfer(row: TokenTransferRow, abis: Abis, parties: Parties): Embedded {
  const method = methodOf(abis, row.selector);
  return {
    block_hash: row.blockHash,
    from: parties.address(row.from),
    to: parties.address(row.to),
    log_index: row.logIndex,
    ...(method === null ? {} : { method }),
    timestamp: microsecondTimestamp(row.timestamp),
    token: parties.token(row.token),
    total: totalOf(row, parties),
    transaction_hash: row.transactionHash,
    type: row.type,
  };
}

/** Record of a token transfer in a list of transfers. */
function tokenTransfer(
  row: TokenTransferRow,
  abis: Abis,
  parties: Parties,
): ExplorerSchemas['TokenTransfer'] {
  return {
    ...embeddedTokenTransfer(row, abis, parties),
    block_number: row.blockNumber,
    token_type: row.tokenType,
  };
}

/** Total in one of the three forms of document 1: an amount, an id, or an amount of an id. */
function totalOf(row: TokenTransferRow, parties: Parties): Embedded['total'] {
  const decimals = parties.token(row.token)?.decimals ?? null;
  switch (row.tokenType) {
    case 'ERC-20':
      return { decimals, value: amount(row.amount) };
    case 'ERC-721':
      return { token_id: amount(row.tokenId) };
    case 'ERC-1155':
      return { token_id: amount(row.tokenId), decimals, value: amount(row.amount) };
  }
}
