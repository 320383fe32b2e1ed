import { insertRows, placeholders } from '../../db/insert.ts';
import type { Handle } from '../../db/open.ts';
import type { BlockRows } from '../decode/block.ts';
import { factsOf } from '../facts.ts';
import {
  BLOCK_COLUMNS,
  BLOCK_DETAILS_COLUMNS,
  CONTRACT_COLUMNS,
  INTERNAL_TRANSACTION_COLUMNS,
  LOG_COLUMNS,
  TOKEN_TRANSFER_COLUMNS,
  TRANSACTION_COLUMNS,
  TRANSACTION_DETAILS_COLUMNS,
  WITHDRAWAL_COLUMNS,
} from './columns-of.ts';
import { markDirty } from './dirty.ts';

/** The bit that a creation gains when its contract turns out to be a token. */
export const TOKEN_CREATION = factsOf(['token_creation']);

/**
 * Writes one block with everything inside as the new head. Must run in a transaction of its own: the
 * highest row of `blocks` is the cursor that sync goes on from after a restart.
 */
export async function writeBlock(handle: Handle, rows: BlockRows): Promise<void> {
  await insertRows(handle, { table: 'blocks', columns: BLOCK_COLUMNS }, [rows.block]);
  await insertRows(handle, { table: 'block_details', columns: BLOCK_DETAILS_COLUMNS }, [rows.blockDetails]);
  await insertRows(handle, { table: 'transactions', columns: TRANSACTION_COLUMNS }, rows.transactions);
  await insertRows(
    handle,
    { table: 'transaction_details', columns: TRANSACTION_DETAILS_COLUMNS },
    rows.transactionDetails,
  );
  await insertRows(handle, { table: 'logs', columns: LOG_COLUMNS }, rows.logs);
  await insertRows(
    handle,
    { table: 'token_transfers', columns: TOKEN_TRANSFER_COLUMNS },
    rows.tokenTransfers,
  );
  await insertRows(
    handle,
    { table: 'internal_transactions', columns: INTERNAL_TRANSACTION_COLUMNS },
    rows.internalTransactions,
  );
  await insertRows(handle, { table: 'withdrawals', columns: WITHDRAWAL_COLUMNS }, rows.withdrawals);
  await insertRows(handle, CONTRACTS, rows.contracts);
  await insertRows(handle, TOKENS, rows.tokens);
  await markTokenCreations(handle, rows);
  await markDirty(handle, rows.dirty);
  // A block that comes back after a reorganisation is not stale any more.
  await handle.raw('delete from stale_blocks where hash = ?', [rows.block[1] ?? null]);
}

/** An address can be created again after its code was destroyed, even within one transaction. */
const CONTRACTS = { table: 'contracts', columns: CONTRACT_COLUMNS, suffix: 'on conflict do nothing' };

const TOKENS = {
  table: 'tokens',
  columns: ['address', 'type', 'first_block'],
  suffix: 'on conflict (address) do nothing',
};

/** Only a token's first block can reveal one, and only for the transaction that created the contract itself. */
async function markTokenCreations(handle: Handle, { number, tokens }: BlockRows): Promise<void> {
  if (tokens.length === 0) return;
  const created = `select address from tokens where first_block = ? and address in (${placeholders(tokens.length)})`;
  await handle.raw(
    `update transactions set facts = facts | ${TOKEN_CREATION} where created_contract in (${created})`,
    [number, ...tokens.map(([address]) => address ?? null)],
  );
}
