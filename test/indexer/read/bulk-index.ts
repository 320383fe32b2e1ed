import { openMigrated } from '#db/migrate.ts';
import { type DatabaseOptions, type Db, openDatabase } from '#db/open.ts';
import { indexOptions, indexSchema } from '#indexer/schema/migrations/index-migrations.ts';
import { TABLES, type Table } from '#indexer/schema/tables.ts';
import { CHAIN_ID } from '../support.ts';
import { vacuum } from '../vacuum.ts';

const BLOCKS = 20_000;
const TRANSACTIONS = 3 * BLOCKS;
/** Share of rows with the frequent values; the newest blocks have no value twice. */
const FREQUENT = 0.9;

/** Values of nine of ten rows, and of none of the newest. */
export const frequent = {
  account: addressOf('account'),
  contract: addressOf('contract'),
  token: addressOf('token'),
  pair: addressOf('pair'),
  selector: '0xa9059cbb',
  tokenId: 7n,
  /** Types of a call that moves tokens. */
  facts: 17,
} as const;

/** Values of three rows each, in the oldest blocks. */
export const rare = { account: addressOf('rare'), token: addressOf('rare token') } as const;

/** A value of the newest tenth of the rows. */
export const late = { account: addressOf('late') } as const;

/** A block and a transaction in the middle of the chain. */
export const MIDDLE = BLOCKS / 2;
export const MIDDLE_TRANSACTION = hexOf(`hash-${3 * MIDDLE}`);

function hexOf(text: string): `0x${string}` {
  return `0x${Buffer.from(text.padEnd(32, '-')).toString('hex')}`;
}

function addressOf(text: string): `0x${string}` {
  return `0x${Buffer.from(text.padEnd(20, '-')).toString('hex')}`;
}

const bytes = (hex: string) => `decode('${hex.slice(2)}', 'hex')`;
const word = (label: string, number: string) => `convert_to(rpad('${label}-' || ${number}, 32, '-'), 'UTF8')`;
const address = (label: string, number: string) => `substr(sha256(${word(label, number)}), 1, 20)`;
/** The frequent value in the first rows, the rare one in the very first, and a different one in each other row. */
const mostly = (value: string, other: string, oldest = value) =>
  `case when i < 3 then ${oldest} when i < ${FREQUENT * TRANSACTIONS} then ${value} else ${other} end`;

const { account, contract, token, pair, selector, facts } = frequent;
const accounts = mostly(bytes(account), address('stranger', 'i'), bytes(rare.account));
const tokens = mostly(bytes(token), address('other', 'i % 1000'), bytes(rare.token));
const AT = '1700000000000 + i / 3 * 12000';
const EACH = (columns: string, count = TRANSACTIONS) =>
  `select ${columns} from generate_series(0, ${count - 1}) i`;
/** Position of a row in its block when each has three. */
const PLACE = '(i / 3)::bigint << 20 | i % 3';
/** The last transaction of the block before the middle one moves a batch of thousands. */
const BATCH_PLACE = `(${MIDDLE - 1}::bigint << 20) + 2`;
const SYNC = bytes('0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1');
const UPGRADED = bytes('0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b');

const block = (number: string) => `
  ${word('block', number)}, ${word('block', `${number} - 1`)}, 1700000000000 + ${number} * 12000::bigint,
  case when ${number} < ${FREQUENT * BLOCKS} then ${bytes(account)} else ${address('miner', number)} end,
  30000000, 63000, 1000000000, 0, null, null, '', ${word('state', number)}, 1024, '[]', 3, 1, 1, 1000, 500, 500, null, null, null, null, 0`;

const namesOf = (table: Table) => Object.keys(TABLES[table].columns).join(', ');
const into = (table: Table) => `insert into ${table} (${namesOf(table)})`;

/** Rows created by the database itself, in the order that the triggers need. */
const ROWS = [
  `${into('blocks')} ${EACH(`i, ${block('i')}`, BLOCKS)}`,
  `insert into stale_blocks (kind, ${namesOf('blocks')})
   ${EACH(`case when i < 2700 then 'reorg' else 'uncle' end, i, ${block('i + 100000')}`, 3_000)}`,
  `insert into transactions (id, hash, timestamp, from_address, to_address, value, nonce, gas_limit, gas_used, gas_price, type,
     status, fee, input, selector, created_contract, facts, token_transfer_count, first_transfer)
   ${EACH(`${PLACE}, ${word('hash', 'i')}, ${AT}, ${accounts},
     case when i % 50 = 0 then null else ${mostly(bytes(contract), address('callee', 'i'))} end,
     i, i, 100000, 21000, 2000000000, 2, 1, 42000000000, ${bytes(selector)},
     case when i % 50 = 0 then null else ${mostly(bytes(selector), `substr(${address('selector', 'i % 100')}, 1, 4)`)} end,
     case when i % 50 = 0 then ${address('created', 'i')} end, ${mostly(String(facts), 'i % 32')}, 1, i % 3`)}`,
  `insert into logs (id, transaction_id, timestamp, address, topic0, topic1, data)
   ${EACH(`${PLACE}, ${PLACE}, ${AT}, ${mostly(bytes(contract), address('emitter', 'i'))},
     ${mostly(word('event', '0'), word('event', 'i % 100'))}, ${word('topic', 'i')}, ${word('data', 'i')}`)}`,
  `insert into logs (id, transaction_id, timestamp, address, topic0, topic1, data)
   ${EACH(`${PLACE} | 1024, ${PLACE}, ${AT}, case when i % 100 = 0 then ${bytes(contract)} else ${mostly(bytes(pair), address('emitter', 'i'))} end,
     case when i % 100 = 0 then ${UPGRADED} else ${SYNC} end, ${word('topic', 'i')}, ${word('data', 'i')} || ${word('data', 'i')}`)}`,
  'insert into event_kinds select row_number() over (), address, topic0 from (select distinct address, topic0 from logs) kinds',
  'update logs set kind = k.id from event_kinds k where k.address = logs.address and k.topic0 = logs.topic0',
  `insert into token_transfers (id, transaction_id, log_index, batch_index, token, token_type, from_address, to_address, token_id, amount,
     token_number, from_number, to_number)
   ${EACH(`${PLACE}, ${PLACE}, 0, 0, ${tokens}, ${mostly('3', '1')}, ${accounts}, ${accounts},
     ${mostly(`case when i % 2 = 0 then '017' else '05' || (10000 + i) end`, 'null')}, 1, 0, 0, 0`)}`,
  `insert into token_transfers (id, transaction_id, log_index, batch_index, token, token_type, from_address, to_address, token_id, amount,
     token_number, from_number, to_number)
   ${EACH(`${BATCH_PLACE} + 1 + i, ${BATCH_PLACE}, 1, i, ${address('other', 'i % 1000')}, 3, ${address('stranger', 'i')}, ${address('stranger', 'i')}, '05' || (10000 + i), 1, 0, 0, 0`, 5_000)}`,
  `insert into transfer_parties select row_number() over (), address from (
     select token as address from token_transfers union select from_address from token_transfers
     union select to_address from token_transfers) parties`,
  `update token_transfers set token_number = t.id, from_number = f.id, to_number = r.id
   from transfer_parties t, transfer_parties f, transfer_parties r
   where t.address = token and f.address = from_address and r.address = to_address`,
  `insert into internal_transactions (id, transaction_id, trace_index, type, from_address, to_address, created_contract, value, gas_limit, gas_used)
   ${EACH(`${PLACE}, ${PLACE}, 1, 'call', ${accounts}, ${mostly(bytes(account), bytes(late.account), bytes(rare.account))}, case when i % 50 = 0 then ${address('inner', 'i')} end, 1, 1, 1`)}`,
  `insert into withdrawals (id, withdrawal_index, validator_index, address, amount)
   ${EACH(`i::bigint << 20, i, 1, case when i < ${FREQUENT * BLOCKS} then ${bytes(account)} else ${address('stranger', 'i')} end, 1`, BLOCKS)}`,
  `${into('contracts')} select created_contract, id, from_address from transactions where created_contract is not null`,
  `${into('addresses')} ${EACH(`${address('stranger', 'i')}, 1000 + i, i % 2, case when i % 100 = 0 then ${bytes(contract)} end`)}`,
  `${into('tokens')} select a, t, 'Token ' || n, 'T' || n, 18, 1000, 0, 0, 1 from (
     select ${bytes(token)} as a, 3 as t, 'zero' as n
     union all select ${bytes(rare.token)}, 1, 'rare'
     union all ${EACH(`${address('other', 'i')}, i % 3 + 1, i::text`, 1_000)}) made`,
  'insert into token_terms select lower(name), address from tokens union select lower(symbol), address from tokens',
  `insert into token_balances ${EACH(`case when i < ${FREQUENT * TRANSACTIONS} then ${bytes(token)} else ${address('other', 'i % 1000')} end,
     case when i % 10 > 0 then ${bytes(account)} else ${address('holder', 'i')} end,
     case when i < ${FREQUENT * TRANSACTIONS} then '05' || (10000 + i) else '' end, 1 + i`)} on conflict do nothing`,
  `insert into token_balances ${EACH(`${bytes(token)}, ${address('owner', 'i')}, '017', 1`, 5_000)}`,
  `insert into token_instances ${EACH(`${bytes(contract)}, '05' || (10000 + i), case when i % 10 > 0 then ${bytes(account)} else ${address('holder', 'i')} end`)}`,
  `insert into pairs ${EACH(`i, ${bytes(contract)}, ${address('pair', 'i')}, ${bytes(token)}, ${address('other', 'i')}`, 5_000)}`,
  `insert into trades ${EACH(`i, ${mostly(bytes(pair), address('pair', 'i'))}, ${AT}, i, i`)}`,
] as const;

/** Fills an empty PostgreSQL database with an index of 20,000 blocks, and updates the planner's statistics. */
export async function openBulkIndex(options: DatabaseOptions): Promise<Db> {
  const database = indexOptions(options, CHAIN_ID);
  const db = await openMigrated(database, indexSchema(CHAIN_ID, database));
  try {
    for (const sql of ROWS) await db.raw(sql);
    await vacuum(db);
  } finally {
    await db.destroy();
  }
  return openDatabase(database);
}
