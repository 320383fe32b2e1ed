import type { Db, Handle } from '../../db/open.ts';
import { transaction } from '../../db/transaction.ts';
import { blockStart } from '../schema/block-position.ts';
import { BLOCK_COLUMNS } from '../schema/columns.ts';
import { DIRTY_KINDS } from '../schema/stale-state.ts';
import { TOKEN_CREATION } from './block-writer.ts';

/**
 * Takes every block above `ancestor` out of the canonical chain, in one transaction: headers move to
 * `stale_blocks`, contents go, and all state that these blocks had touched is marked to be read again. A new epoch
 * starts when what goes may have counted as final: measured from the highest head since the last epoch, for a chain
 * can go back a long way in small steps.
 */
export async function unwind(
  db: Db,
  { ancestor, confirmations }: { ancestor: number; confirmations: number },
): Promise<{ isDeep: boolean }> {
  const from = blockStart(ancestor + 1);
  const columns = BLOCK_COLUMNS.join(', ');
  return transaction(db, async handle => {
    const highWater = await highestHead(handle);
    const isDeep = highWater - ancestor > confirmations;
    for (const sql of TOUCHED) await handle.raw(sql, { from, ancestor });
    await handle.raw(
      `insert into stale_blocks (kind, ${columns}) select 'reorg', ${columns} from blocks
       where number > :ancestor on conflict (hash) do nothing`,
      { ancestor },
    );
    for (const sql of FORGOTTEN) await handle.raw(sql, { from, ancestor });
    await handle.raw('update index_state set epoch = epoch + ?, high_water = ? where id = 1', [
      isDeep ? 1 : 0,
      isDeep ? ancestor : highWater,
    ]);
    return { isDeep };
  });
}

async function highestHead(handle: Handle): Promise<number> {
  const [row] = await handle.raw<{ highest: number }[]>(
    `select max(high_water, coalesce((select max(number) from blocks), -1)) as highest
     from index_state where id = 1`,
  );
  return row?.highest ?? -1;
}

const { coin, token, balance, instance } = DIRTY_KINDS;
const ZERO = `zeroblob(20)`;

function touchedCoins(column: string, table: string, key: string): string {
  return `insert into dirty select ${coin}, ${column}, x'', '' from ${table}
    where ${key} and ${column} is not null on conflict do nothing`;
}

function touchedBalances(column: string): string {
  return `insert into dirty
    select ${balance}, token, ${column}, case when token_type = 3 then token_id else '' end
    from token_transfers where id >= :from and ${column} <> ${ZERO} on conflict do nothing`;
}

/** What the block writer had marked for these blocks, found again in their rows. */
const TOUCHED = [
  touchedCoins('miner', 'blocks', 'number > :ancestor'),
  touchedCoins('from_address', 'transactions', 'id >= :from'),
  touchedCoins('to_address', 'transactions', 'id >= :from'),
  touchedCoins('created_contract', 'transactions', 'id >= :from'),
  touchedCoins('address', 'logs', 'id >= :from'),
  touchedCoins('from_address', 'internal_transactions', 'id >= :from'),
  touchedCoins('to_address', 'internal_transactions', 'id >= :from'),
  touchedCoins('created_contract', 'internal_transactions', 'id >= :from'),
  touchedCoins('from_address', 'token_transfers', 'id >= :from'),
  touchedCoins('to_address', 'token_transfers', 'id >= :from'),
  touchedCoins('address', 'withdrawals', 'id >= :from'),
  touchedBalances('from_address'),
  touchedBalances('to_address'),
  `insert into dirty select ${token}, token, x'', '' from token_transfers
    where id >= :from and (from_address = ${ZERO} or to_address = ${ZERO}) on conflict do nothing`,
  `insert into dirty select ${instance}, token, x'', token_id from token_transfers
    where id >= :from and token_type = 2 on conflict do nothing`,
] as const;

const NEW_TOKENS = 'select address from tokens where first_block > :ancestor';

const FORGOTTEN = [
  // Read again whether it still is a contract: only an account not known as one is asked for its code.
  `update addresses set is_contract = 0 where address in
    (select address from contracts where transaction_id >= :from)`,
  `update transactions set facts = facts & ~${TOKEN_CREATION} where created_contract in (${NEW_TOKENS})`,
  `delete from dirty where kind <> ${coin} and address in (${NEW_TOKENS})`,
  `delete from token_balances where token in (${NEW_TOKENS})`,
  `delete from token_instances where token in (${NEW_TOKENS})`,
  'delete from tokens where first_block > :ancestor',
  'delete from contracts where transaction_id >= :from',
  'delete from withdrawals where id >= :from',
  'delete from internal_transactions where id >= :from',
  'delete from token_transfers where id >= :from',
  'delete from logs where id >= :from',
  'delete from transaction_details where id >= :from',
  'delete from transactions where id >= :from',
  'delete from block_details where number > :ancestor',
  'delete from blocks where number > :ancestor',
] as const;
