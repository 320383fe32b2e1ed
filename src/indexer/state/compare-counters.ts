import { bytesColumn } from '../../db/columns.ts';
import type { Db, Handle, Transaction } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import { placeholders } from '../../db/rows.ts';
import { transaction } from '../../db/transaction.ts';
import type { Dirty } from '../schema/dirty-state.ts';
import { select } from '../schema/select.ts';

/** A counter that is not what the rows of the index give. The values are decimal digits. */
export interface CounterDifference {
  /** The counter, for people. */
  readonly subject: string;
  readonly indexed: string;
  readonly expected: string;
}

/** Counters that are compared and counted again together. */
export interface Counters {
  /** Name of each for people. */
  readonly names: readonly string[];
  /** Returns `kept` and `counted`: the numbers in the order of their names, with spaces. No row when there are too many. */
  readonly sql: string;
  readonly write: (handle: Transaction, counts: readonly string[]) => Promise<void>;
}

/** Most rows of a kind that are counted for an address or a token. */
const MAX_ROWS = 100_000;
/** Most blocks or addresses of an index whose totals are counted. */
const MAX_IN_TOTAL = 2_000_000;

/** Counters that belong to an entry of state: those of an address, or of a token. */
export function countersOf({ dialect }: Handle, { kind, address }: Dirty): Counters[] {
  const key = dialect.bytesLiteral(address);
  if (kind === 'coin') return [countersOfAddress(key, address)];
  return kind === 'token' ? [holdersOf(key, address)] : [];
}

/** Counters that differ. Kept and counted numbers are of one moment, also while the index is written. */
export async function wrongCounters(handle: Handle, counters: Counters): Promise<CounterDifference[]> {
  const { kept, counted } = await numbersOf(handle, counters);
  return counters.names.flatMap((subject, index) => {
    const [indexed = '', expected = ''] = [kept[index], counted[index]];
    return indexed === expected ? [] : [{ subject, indexed, expected: `${expected} by its rows` }];
  });
}

/** Replaces counters by what the rows of the index give. */
export async function recount(db: Db, counters: Counters): Promise<void> {
  await transaction(db, async handle => {
    const { counted } = await numbersOf(handle, counters);
    if (counted.length > 0) await counters.write(handle, counted);
  });
}

const NUMBERS = select({ computed: { kept: ['text', 'kept'], counted: ['text', 'counted'] } });

async function numbersOf(handle: Handle, { sql }: Counters) {
  const [row] = await NUMBERS.rows(handle, `from (${sql}) as numbers`);
  return { kept: row?.kept.split(' ') ?? [], counted: row?.counted.split(' ') ?? [] };
}

/** Aggregates over at most so many rows, with their number as `n`. */
const first = (name: string, { of, where, also = '' }: { of: string; where: string; also?: string }) =>
  `(select count(*) as n${also} from (select ${of} where ${where} limit ${MAX_ROWS}) ${name}_rows) ${name}`;

const OF_TRANSACTIONS = ['transactions', 'gas_sent', 'gas_received'] as const;
const OF_ADDRESS = ['token_transfers', 'transfers_of_token', 'validated_blocks'] as const;

/** The same counts as the triggers keep: a transaction or transfer of an address to itself counts once. */
function countersOfAddress(key: string, address: string): Counters {
  const party = `(select id from transfer_parties where address = ${key})`;
  const gas = ', coalesce(sum(gas_used), 0) as gas';
  const others = `, coalesce(sum(case when from_address = ${key} then 0 else 1 end), 0) as others`;
  const parts = {
    sent: { of: 'gas_used from transactions', where: `from_address = ${key}`, also: gas },
    received: {
      of: 'gas_used, from_address from transactions',
      where: `to_address = ${key}`,
      also: gas + others,
    },
    created: {
      of: 'from_address from transactions',
      where: `created_contract = ${key} and to_address is null`,
      also: others,
    },
    gave: { of: '1 from token_transfers', where: `from_number = ${party}` },
    got: { of: '1 from token_transfers', where: `to_number = ${party} and from_number <> to_number` },
    moved: { of: '1 from token_transfers', where: `token_number = ${party}` },
    mined: { of: '1 from blocks', where: `miner = ${key}` },
  };
  const names = Object.keys(parts);
  const kept = (table: string, columns: readonly string[]) =>
    `coalesce((select ${joined(columns)} from ${table} where address = ${key}), '${columns.map(() => 0).join(' ')}')`;
  return {
    names: [...OF_TRANSACTIONS, ...OF_ADDRESS].map(name => `${name.replaceAll('_', ' ')} of ${address}`),
    sql: `select ${joined([kept('transaction_counts', OF_TRANSACTIONS), kept('address_counts', OF_ADDRESS)])} as kept,
        ${joined([
          'sent.n + received.others + created.others',
          'sent.gas',
          'received.gas',
          'gave.n + got.n',
          'moved.n',
          'mined.n',
        ])} as counted
      from ${Object.entries(parts)
        .map(([name, part]) => first(name, part))
        .join(' cross join ')}
      where ${names.map(name => `${name}.n < ${MAX_ROWS}`).join(' and ')}`,
    async write(handle, counts) {
      const half = OF_TRANSACTIONS.length;
      await writeRow(
        handle,
        { table: 'transaction_counts', columns: OF_TRANSACTIONS },
        address,
        counts.slice(0, half),
      );
      await writeRow(handle, { table: 'address_counts', columns: OF_ADDRESS }, address, counts.slice(half));
    },
  };
}

/** Rows whose counters are zero are absent. */
async function writeRow(
  handle: Transaction,
  { table, columns }: { table: string; columns: readonly string[] },
  address: string,
  counts: readonly string[],
): Promise<void> {
  const key = bytesColumn(address);
  await execute(handle, `delete from ${table} where address = ?`, [key]);
  if (counts.every(count => count === '0')) return;
  const sql = `insert into ${table} (address, ${columns.join(', ')}) values (${placeholders(columns.length + 1)})`;
  await execute(handle, sql, [key, ...counts]);
}

function holdersOf(key: string, address: string): Counters {
  return {
    names: [`holders of ${address}`],
    sql: `select ${joined(['holder_count'])} as kept, ${joined(['held.n'])} as counted
      from tokens cross join ${first('held', { of: 'distinct holder from token_balances', where: `token = ${key}` })}
      where address = ${key} and held.n < ${MAX_ROWS}`,
    write: async (handle, [count = '0']) =>
      void (await execute(handle, 'update tokens set holder_count = ? where address = ?', [
        count,
        bytesColumn(address),
      ])),
  };
}

const OF_BLOCKS = {
  blocks: 'count(*)',
  transactions: 'coalesce(sum(transaction_count), 0)',
  gas_used: 'coalesce(sum(gas_used), 0)',
  filled_blocks: 'coalesce(sum(case when transaction_count > 0 then 1 else 0 end), 0)',
  untraced_blocks: 'coalesce(sum(case when internal_transaction_count is null then 1 else 0 end), 0)',
  proven_blocks: 'coalesce(sum(proven), 0)',
};
const OF_ADDRESSES = { addresses: 'count(*)', contracts: 'coalesce(sum(is_contract), 0)' };

/** Totals of the whole index. */
export const TOTALS: readonly Counters[] = [
  totalsOf('blocks', { kept: 'block_counters', columns: OF_BLOCKS }),
  totalsOf('addresses', { kept: 'address_counters', columns: OF_ADDRESSES }),
];

function totalsOf(
  rows: 'blocks' | 'addresses',
  { kept, columns }: { kept: string; columns: Readonly<Record<string, string>> },
): Counters {
  const names = Object.keys(columns);
  return {
    names: names.map(name => `${name.replaceAll('_', ' ')} in total`),
    sql: `select ${joined(names)} as kept, (select ${joined(Object.values(columns))} from ${rows}) as counted
      from ${kept} where id = 1 and ${rows} <= ${MAX_IN_TOTAL}`,
    write: async (handle, counts) =>
      void (await execute(
        handle,
        `update ${kept} set ${names.map(name => `${name} = ?`).join(', ')} where id = 1`,
        counts,
      )),
  };
}

/** Numbers as one text. */
function joined(expressions: readonly string[]): string {
  return expressions.map(one => `cast(${one} as text)`).join(" || ' ' || ");
}
