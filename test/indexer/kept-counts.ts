import { hexOf, nullableHex, nullableUint } from '#db/columns.ts';
import { type DatabaseOptions, type Handle, openDatabase } from '#db/open.ts';
import { rowsOf } from '#db/query.ts';
import { indexOptions } from '#indexer/schema/migrations/index-migrations.ts';
import type { IndexTables } from '#indexer/schema/tables.ts';
import { CHAIN_ID } from './support.ts';

/** Counters of an address. */
const NONE = {
  transactions: 0,
  gas_sent: 0,
  gas_received: 0,
  token_transfers: 0,
  transfers_of_token: 0,
  validated_blocks: 0,
};
type Counts = typeof NONE;

/** Counts by address, and sums by block as decimal digits. */
interface Kept {
  readonly addresses: Readonly<Record<string, Counts>>;
  readonly blocks: Readonly<Record<string, string>>;
}

/** Counts kept by the triggers of an index. */
export function keptCounts(database: DatabaseOptions): Promise<Kept> {
  return read(database, async db => {
    const addresses: Record<string, Counts> = {};
    for (const table of ['transaction_counts', 'address_counts'] as const) {
      const rows = await rowsOf<Counts & { address: Buffer }>(db, `select * from ${table}`);
      for (const { address, ...counts } of rows) {
        addresses[hexOf(address)] = { ...NONE, ...addresses[hexOf(address)], ...counts };
      }
    }
    const sums = await rowsOf<IndexTables['block_sums']>(db, 'select * from block_sums');
    return {
      addresses,
      blocks: Object.fromEntries(
        sums.map(({ number, transactions, fee_parts: parts }) => [
          number,
          `${transactions} ${wholeOf(parts)}`,
        ]),
      ),
    };
  });
}

function wholeOf(parts: string): bigint {
  return parts
    .replaceAll(/[[\]"]/g, '')
    .split(',')
    .reduce((sum, part) => sum * 10n ** 10n + BigInt(part), 0n);
}

/** Same counts, computed from the rows of the index. */
export function countedAgain(database: DatabaseOptions): Promise<Kept> {
  return read(database, async db => {
    const addresses: Record<string, Counts> = {};
    const add = (address: string | null, counter: keyof Counts, amount = 1) => {
      if (address === null) return;
      const counts = addresses[address] ?? { ...NONE };
      counts[counter] += amount;
      addresses[address] = counts;
    };
    for (const row of await rowsOf<IndexTables['transactions']>(db, 'select * from transactions')) {
      const [from, to] = [hexOf(row.from_address), nullableHex(row.to_address)];
      const other = to ?? nullableHex(row.created_contract);
      add(from, 'transactions');
      add(from, 'gas_sent', row.gas_used ?? 0);
      add(to, 'gas_received', row.gas_used ?? 0);
      if (other !== from) add(other, 'transactions');
    }
    for (const row of await rowsOf<IndexTables['token_transfers']>(db, 'select * from token_transfers')) {
      for (const side of new Set([hexOf(row.from_address), hexOf(row.to_address)])) {
        add(side, 'token_transfers');
      }
      add(hexOf(row.token), 'transfers_of_token');
    }
    const blocks: Record<string, string> = {};
    let [transactions, fees] = [0, 0n];
    for (const row of await rowsOf<IndexTables['blocks']>(db, 'select * from blocks order by number')) {
      add(hexOf(row.miner), 'validated_blocks');
      transactions += row.transaction_count;
      fees += nullableUint(row.transaction_fees) ?? 0n;
      blocks[row.number] = `${transactions} ${fees}`;
    }
    return { addresses, blocks };
  });
}

async function read(database: DatabaseOptions, from: (db: Handle) => Promise<Kept>): Promise<Kept> {
  const options = indexOptions(database, CHAIN_ID);
  const db = openDatabase(options.kind === 'postgres' ? options : { ...options, readonly: true });
  return await from(db).finally(() => db.destroy());
}
