import type { ExplorerSchemas } from '#contract/contracts/explorer.ts';
import { lowerCase } from '#evm/address.ts';
import type { WithdrawalRow } from '#indexer/read/blocks/withdrawals.ts';
import type { Page } from '#indexer/read/page.ts';
import type { Answers } from '../port/backend.ts';
import type { CursorPosition } from '../port/cursor.ts';
import { blockWith, depthOf } from './blocks.ts';
import { microsecondTimestamp } from './parts/format.ts';
import { loadParties, type Parties } from './parts/parties.ts';
import { countKey, type Keys, wholeKeys } from './source/position.ts';
import {
  assertCaughtUp,
  assertNotCutOff,
  assertWhole,
  cursorFields,
  type IndexSource,
  PAGE_SIZE,
} from './source/source.ts';

/** Withdrawals from the beacon chain, newest first. Chains without any have empty lists (Decision 45). */
export function withdrawalAnswers(source: IndexSource) {
  const { reader } = source;
  return {
    async listWithdrawals({ query }, { position }) {
      assertCaughtUp(source);
      const page = await reader.withdrawals(request(position, query));
      assertNotCutOff(source, page);
      const parties = await receiversOf(source, page);
      return {
        body: {
          items: page.items.map(row => withdrawal(row, parties)),
          next_page_params: nextWithdrawals(source, page),
        },
      };
    },

    async listBlockWithdrawals({ path, query }, { position }) {
      const within = request(position, query);
      const { row, page } = await blockWith(source, path.block_number_or_hash, blockNumber =>
        reader.withdrawals({ blockNumber, ...within }),
      );
      const parties = await receiversOf(source, page);
      return {
        ...depthOf(source, row),
        body: {
          items: page.items.map(row => blockWithdrawal(row, parties)),
          next_page_params: nextWithdrawals(source, page),
        },
      };
    },

    async listAddressWithdrawals({ path, query }, { position }) {
      assertWhole(source);
      const receiver = lowerCase(path.address_hash);
      const page = await reader.withdrawals({ receiver, ...request(position, query) });
      return {
        body: {
          items: page.items.map(addressWithdrawal),
          next_page_params: nextWithdrawals(source, page),
        },
      };
    },
  } satisfies Answers;
}

function request(
  position: CursorPosition | undefined,
  query: Keys,
): { limit: number; beforeIndex?: number | undefined } {
  const keys = wholeKeys({ position, query }, ['index']);
  return { limit: PAGE_SIZE, beforeIndex: keys === undefined ? undefined : countKey(keys.index) };
}

function receiversOf(source: IndexSource, { items }: Page<WithdrawalRow>) {
  return loadParties(source, { addresses: items.map(({ receiver }) => receiver) });
}

function nextWithdrawals(source: IndexSource, { items, hasMore }: Page<WithdrawalRow>) {
  const last = items.at(-1);
  if (!hasMore || last === undefined) return null;
  const position = { index: last.index };
  return { ...position, items_count: items.length, ...cursorFields(source, position) };
}

/** Withdrawal in the list of the whole chain. */
function withdrawal(row: WithdrawalRow, parties: Parties): ExplorerSchemas['Withdrawal'] {
  return { ...addressWithdrawal(row), receiver: parties.address(row.receiver) };
}

/** Withdrawal without its block, which the path names. */
function blockWithdrawal(row: WithdrawalRow, parties: Parties): ExplorerSchemas['BlockWithdrawal'] {
  return { ...amountOf(row), receiver: parties.address(row.receiver) };
}

/** Withdrawal without its receiver, which the path names. */
function addressWithdrawal(row: WithdrawalRow): ExplorerSchemas['AddressWithdrawal'] {
  return { ...amountOf(row), block_number: row.blockNumber, timestamp: microsecondTimestamp(row.timestamp) };
}

function amountOf({ index, amount, validatorIndex }: WithdrawalRow) {
  return { index, amount: amount.toString(), validator_index: validatorIndex };
}
