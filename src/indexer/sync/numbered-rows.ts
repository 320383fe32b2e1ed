import type { Handle } from '../../db/open.ts';
import { insertTyped, placeholders } from '../../db/rows.ts';
import type { LogOfBlock } from '../decode/block.ts';
import type { TransferOfBlock } from '../decode/token-transfers.ts';
import { select } from '../schema/select.ts';
import { TABLES } from '../schema/tables.ts';

/** Inserts logs with the numbers of their kinds. */
export async function insertLogs(handle: Handle, logs: readonly LogOfBlock[]): Promise<void> {
  const kindOf = ({ address, topic0 }: LogOfBlock) => (topic0 === null ? [] : [[address, topic0]]);
  const numberOf = await numbersOf(handle, logs.flatMap(kindOf), KINDS);
  await insertTyped(
    handle,
    { table: 'logs', columns: TABLES.logs.columns },
    logs.map(log => ({ ...log, kind: kindOf(log).map(numberOf)[0] ?? null })),
  );
}

/** Inserts transfers with the numbers of their tokens, senders and receivers. */
export async function insertTransfers(handle: Handle, transfers: readonly TransferOfBlock[]): Promise<void> {
  const parties = transfers.flatMap(row => [[row.token], [row.from_address], [row.to_address]]);
  const numberOf = await numbersOf(handle, parties, PARTIES);
  await insertTyped(
    handle,
    { table: 'token_transfers', columns: TABLES.token_transfers.columns },
    transfers.map(row => ({
      ...row,
      token_number: numberOf([row.token]),
      from_number: numberOf([row.from_address]),
      to_number: numberOf([row.to_address]),
    })),
  );
}

/** Values of the columns that a number stands for. */
type Key = readonly Buffer[];

/** Table that numbers the keys of other rows. */
interface NumberTable {
  /** Most keys per statement. */
  readonly keysPerRead: number;
  read(handle: Handle, keys: readonly Key[]): Promise<{ id: number; key: Key }[]>;
  lastNumber(handle: Handle): Promise<number>;
  add(handle: Handle, rows: readonly { id: number; key: Key }[]): Promise<void>;
}

const KIND = select({ from: 'event_kinds', columns: ['*'] });
const KINDS: NumberTable = {
  // SQLite refuses conditions with 1,000 alternatives.
  keysPerRead: 200,
  async read(handle, keys) {
    const condition = keys.map(() => '(address = ? and topic0 = ?)').join(' or ');
    const rows = await KIND.rows(handle, `where ${condition}`, keys.flat());
    return rows.map(({ id, address, topic0 }) => ({ id, key: [address, topic0] }));
  },
  async lastNumber(handle) {
    const [row] = await KIND.rows(handle, 'order by id desc limit 1');
    return row?.id ?? 0;
  },
  add: (handle, rows) =>
    insertTyped(
      handle,
      { table: 'event_kinds', columns: TABLES.event_kinds.columns },
      rows.flatMap(({ id, key: [address, topic0] }) => (address && topic0 ? [{ id, address, topic0 }] : [])),
    ),
};

const PARTY = select({ from: 'transfer_parties', columns: ['*'] });
const PARTIES: NumberTable = {
  keysPerRead: 2_000,
  async read(handle, keys) {
    const rows = await PARTY.rows(handle, `where address in (${placeholders(keys.length)})`, keys.flat());
    return rows.map(({ id, address }) => ({ id, key: [address] }));
  },
  async lastNumber(handle) {
    const [row] = await PARTY.rows(handle, 'order by id desc limit 1');
    return row?.id ?? 0;
  },
  add: (handle, rows) =>
    insertTyped(
      handle,
      { table: 'transfer_parties', columns: TABLES.transfer_parties.columns },
      rows.flatMap(({ id, key: [address] }) => (address ? [{ id, address }] : [])),
    ),
};

/** Numbers of keys. Keys that the table does not have are added. Only one process writes an index. */
async function numbersOf(
  handle: Handle,
  keys: readonly Key[],
  { keysPerRead, read, lastNumber, add }: NumberTable,
): Promise<(key: Key) => number> {
  const distinct = new Map(keys.map(key => [nameOf(key), key]));
  const all = [...distinct.values()];
  const numbers = new Map<string, number>();
  for (let first = 0; first < all.length; first += keysPerRead) {
    for (const { id, key } of await read(handle, all.slice(first, first + keysPerRead)))
      numbers.set(nameOf(key), id);
  }
  const missing = all.filter(key => !numbers.has(nameOf(key)));
  if (missing.length > 0) {
    const free = (await lastNumber(handle)) + 1;
    const added = missing.map((key, at) => ({ id: free + at, key }));
    await add(handle, added);
    for (const { id, key } of added) numbers.set(nameOf(key), id);
  }
  return key => {
    const number = numbers.get(nameOf(key));
    if (number === undefined) throw new RangeError('A key has no number.');
    return number;
  };
}

function nameOf(key: Key): string {
  return key.map(part => part.toString('latin1')).join();
}
