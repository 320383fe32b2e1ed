import type { Address } from 'viem';
import { hexOf, hexOrNull } from '../../db/columns.ts';
import type { Db, Handle } from '../../db/open.ts';
import { execute, rowsOf } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { type CodeTrail, type ReceiverCode, type TrailSource, trailOf } from '../fetch/receiver-code.ts';
import { blockStart, positionOf } from '../schema/block-position.ts';
import type { IndexTables } from '../schema/columns.ts';
import { unknownList } from '../schema/json-lists.ts';
import { factsOf } from '../schema/transaction-types.ts';
import type { IndexWrite } from '../schema/writer-lease.ts';

/**
 * Maximum blocks and transactions per step. A block is never divided. A run takes one step, so that new blocks do not
 * wait.
 */
const MOST_BLOCKS = 200;
const MOST_TRANSACTIONS = 500;

interface RetypeDeps {
  db: Db;
  write: IndexWrite;
  /** Cache kept between steps. Must not be shared with the sync of new blocks. */
  code: ReceiverCode;
  chainId: number;
}

/**
 * Determines the types of transactions indexed by an earlier version, oldest first, by the current rule (Decision 181).
 * An aborted step stores nothing.
 */
export async function retypeOlder(
  { db, write, code, chainId }: RetypeDeps,
  signal?: AbortSignal,
): Promise<void> {
  const range = await olderBlocks(db);
  if (range === null) return;
  const to = await endOfStep(db, range);
  const blocks = await readOlderBlocks(db, { from: range.from, to });
  const trails: CodeTrail[] = [];
  for (const block of blocks) {
    if (signal?.aborted === true) return;
    trails.push(await trailOf(block, chainId));
  }
  const withCode = await code.withCode(trails);
  if (signal?.aborted === true) return;
  const judged = blocks.flatMap(({ transactions }, at) =>
    transactions
      // Keeps the type of a transaction whose receiver the node cannot judge.
      .filter(({ to: receiver }) => receiver === null || withCode[at]?.unknown.has(receiver) !== true)
      .map(({ id, to: receiver }) => ({
        id,
        isCall: receiver !== null && withCode[at]?.withCode.has(receiver) === true,
      })),
  );
  const idsOf = (isCall: boolean) => judged.filter(one => one.isCall === isCall).map(({ id }) => id);
  await write(handle => writeTypes(handle, { to, calls: idsOf(true), others: idsOf(false) }));
}

const CONTRACT_CALL = factsOf(['contract_call']);

/** Blocks from `from` (inclusive) to `to` (exclusive). */
interface BlockRange {
  from: number;
  to: number;
}

/** Block indexed by an earlier version, with the ids of its transactions. */
interface OlderBlock extends TrailSource {
  transactions: (TrailSource['transactions'][number] & { id: number })[];
}

/** Range of blocks whose transaction types are still from an earlier version; null when there are none. */
async function olderBlocks(handle: Handle): Promise<BlockRange | null> {
  const [row] = await rowsOf<IndexTables['retyping']>(
    handle,
    'select * from retyping where next_block < end_block',
  );
  return row === undefined ? null : { from: row.next_block, to: row.end_block };
}

/** First block after the step that starts at `from`. */
async function endOfStep(handle: Handle, { from, to }: BlockRange): Promise<number> {
  const last = Math.min(from + MOST_BLOCKS, to);
  const [beyond] = await rowsOf<Pick<IndexTables['transactions'], 'id'>>(
    handle,
    'select id from transactions where id >= ? and id < ? order by id limit 1 offset ?',
    [blockStart(from), blockStart(last), MOST_TRANSACTIONS],
  );
  return beyond === undefined ? last : Math.max(blockOf(beyond), from + 1);
}

/** Transactions and code changes of a range, per block. */
async function readOlderBlocks(handle: Handle, { from, to }: BlockRange): Promise<OlderBlock[]> {
  const bounds = [blockStart(from), blockStart(to)];
  const blocks = await rowsOf<Pick<IndexTables['blocks'], 'number' | 'internal_transaction_count'>>(
    handle,
    `select number, internal_transaction_count from blocks
     where number >= ? and number < ? order by number`,
    [from, to],
  );
  const transactions = await rowsOf<TransactionColumns>(
    handle,
    `select id, to_address, gas_used, created_contract, authorization_list from transactions
     where id >= ? and id < ? order by id`,
    bounds,
  );
  const calls = await rowsOf<CallColumns>(
    handle,
    `select id, type, from_address, created_contract from internal_transactions
     where id >= ? and id < ? and (created_contract is not null or type = 'selfdestruct')`,
    bounds,
  );
  const transactionsOf = Map.groupBy(transactions, blockOf);
  const callsOf = Map.groupBy(calls, blockOf);
  return blocks.map(block => ({
    number: block.number,
    transactions: (transactionsOf.get(block.number) ?? []).map(transactionOf),
    isIncomplete: false,
    calls: block.internal_transaction_count === null ? null : (callsOf.get(block.number) ?? []).map(callOf),
  }));
}

/**
 * Stores which transactions of a range were calls. The last range starts a new epoch, because answers that counted as
 * final may show old types.
 */
async function writeTypes(
  handle: Handle,
  { to, calls, others }: { to: number; calls: readonly number[]; others: readonly number[] },
): Promise<void> {
  for (const part of inParts(calls)) {
    await execute(
      handle,
      `update transactions set facts = facts | ${CONTRACT_CALL}
       where facts & ${CONTRACT_CALL} = 0 and id in (${placeholders(part.length)})`,
      part,
    );
  }
  for (const part of inParts(others)) {
    await execute(
      handle,
      `update transactions set facts = facts & ~${CONTRACT_CALL}
       where facts & ${CONTRACT_CALL} <> 0 and id in (${placeholders(part.length)})`,
      part,
    );
  }
  await execute(handle, 'update retyping set next_block = ? where id = 1', [to]);
  await execute(
    handle,
    'update index_state set epoch = epoch + 1 where exists (select 1 from retyping where next_block >= end_block)',
  );
  await execute(handle, 'delete from retyping where next_block >= end_block');
}

/** Splits ids into parts short enough for one statement. */
function* inParts(ids: readonly number[]): Generator<readonly number[]> {
  for (let start = 0; start < ids.length; start += MOST_TRANSACTIONS) {
    yield ids.slice(start, start + MOST_TRANSACTIONS);
  }
}

type TransactionColumns = Pick<
  IndexTables['transactions'],
  'id' | 'to_address' | 'gas_used' | 'created_contract' | 'authorization_list'
>;
type CallColumns = Pick<
  IndexTables['internal_transactions'],
  'id' | 'type' | 'from_address' | 'created_contract'
>;

function blockOf({ id }: { id: number }): number {
  return positionOf(id).blockNumber;
}

function transactionOf(row: TransactionColumns): OlderBlock['transactions'][number] {
  return {
    id: row.id,
    to: hexOrNull(row.to_address),
    gasUsed: row.gas_used,
    createdContract: hexOrNull(row.created_contract),
    authorizations: unknownList(row.authorization_list),
  };
}

function callOf(row: CallColumns): { type: string; from: Address; createdContract: Address | null } {
  return {
    type: row.type,
    from: hexOf(row.from_address),
    createdContract: hexOrNull(row.created_contract),
  };
}
