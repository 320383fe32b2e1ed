import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { Entity } from '../query.ts';
import type { Cell } from '../record-columns.ts';

/** Record types of the contract, by entity. */
interface EntityRecords {
  readonly blocks: InsightsSchemas['Block'];
  readonly transactions: InsightsSchemas['Transaction'];
  readonly events: InsightsSchemas['ContractEvent'];
}

/** Columns of a call. */
export interface CallCells {
  readonly to: string | null;
  readonly input: string;
}

/** Columns of a log. */
export interface LogCells {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** Decodes the rows of one page. Returns the JSON text of an object whose only member is `decoded`, or undefined. */
export interface RowDecoder {
  call(call: CallCells): string | undefined;
  log(log: LogCells): string | undefined;
}

/** Rows of a page: their entity, field names and decoder. */
export interface WrittenRows {
  readonly entity: Entity;
  readonly fields: readonly string[];
  /** Absent for records without `decoded`. */
  readonly decoder?: RowDecoder | undefined;
}

/** JSON text of a value. */
type Form = (value: bigint | string) => string;

/** Form of a value in a record, and the treatment of a missing value. */
interface Member {
  readonly form: Form;
  readonly absent: 'error' | 'null' | 'nothing';
}

type Members<E extends Entity> = {
  readonly [Name in Exclude<keyof EntityRecords[E], 'decoded' | 'topics'>]-?: Member;
};

const always = (form: Form): Member => ({ form, absent: 'error' });
const orNull = (form: Form): Member => ({ form, absent: 'null' });
const orNothing = (form: Form): Member => ({ form, absent: 'nothing' });

/** Hex and digits, which need no escaping. */
const text: Form = value => `"${value}"`;
/** Text from outside, which needs escaping. */
const freeText: Form = value => JSON.stringify(String(value));
/** Integer with all digits. */
const integer: Form = String;
/** Integer as a JSON number. Beyond 15 digits it may be rounded. */
const number: Form = value => {
  const digits = String(value);
  return digits.length <= 15 ? digits : String(Number(digits));
};
const status: Form = value => (String(value) === '1' ? '1' : '0');

/** Members of each record, in order. */
const MEMBERS: { readonly [E in Entity]: Members<E> } = {
  blocks: {
    chain_id: always(number),
    block_number: always(number),
    block_hash: always(text),
    parent_hash: always(text),
    block_timestamp: always(number),
    nonce: orNull(text),
    sha3_uncles: orNull(text),
    mix_hash: orNull(text),
    miner: always(text),
    state_root: always(text),
    transactions_root: orNull(text),
    receipts_root: orNull(text),
    logs_bloom: orNull(text),
    size: orNull(number),
    extra_data: always(text),
    difficulty: always(text),
    total_difficulty: orNull(text),
    transaction_count: always(number),
    gas_limit: always(number),
    gas_used: always(number),
    withdrawals_root: orNull(text),
    base_fee_per_gas: orNull(number),
  },
  transactions: {
    chain_id: always(text),
    block_number: always(number),
    block_hash: always(text),
    block_timestamp: always(number),
    hash: always(text),
    nonce: always(integer),
    transaction_index: always(number),
    from_address: always(text),
    to_address: orNull(text),
    value: always(text),
    gas_price: always(text),
    gas: always(integer),
    function_selector: always(text),
    data: always(text),
    max_fee_per_gas: orNull(text),
    max_priority_fee_per_gas: orNull(text),
    transaction_type: always(number),
    r: always(text),
    s: always(text),
    v: always(text),
    access_list_json: orNothing(freeText),
    authorization_list_json: orNothing(freeText),
    contract_address: orNothing(text),
    gas_used: orNothing(number),
    cumulative_gas_used: orNothing(number),
    effective_gas_price: orNothing(text),
    blob_gas_used: orNothing(number),
    blob_gas_price: orNothing(text),
    logs_bloom: orNothing(text),
    status: orNothing(status),
  },
  events: {
    chain_id: always(text),
    block_number: always(number),
    block_hash: always(text),
    block_timestamp: always(number),
    transaction_hash: always(text),
    transaction_index: always(number),
    log_index: always(number),
    address: always(text),
    data: always(text),
  },
};

/**
 * Returns a function that writes a row as the JSON text of its record. Writing text directly takes half the time of
 * serializing objects.
 */
export function recordWriter(rows: WrittenRows): (row: readonly Cell[]) => string {
  const members = membersWriter(rows);
  if (rows.entity === 'blocks') return row => `{${members(row)}}`;
  const behind = rows.entity === 'transactions' ? behindTransaction(rows) : behindEvent(rows);
  return row => `{${members(row)}${behind(row)}`;
}

/** Writes the members with a single value, separated by commas. */
function membersWriter({ entity, fields }: WrittenRows): (row: readonly Cell[]) => string {
  const members = Object.entries<Member>(MEMBERS[entity]).map(([name, { form, absent }], place) => {
    const head = `${place === 0 ? '' : ','}"${name}":`;
    const without = absent === 'null' ? `${head}null` : '';
    return { name, head, form, without, isNeeded: absent === 'error', column: fields.indexOf(name) };
  });
  return row => {
    let json = '';
    for (const { name, head, form, without, isNeeded, column } of members) {
      const value = row[column] ?? null;
      if (value !== null) json += head + form(value);
      else if (isNeeded) throw new TypeError(`A row of the index has no ${name}.`);
      else json += without;
    }
    return json;
  };
}

function behindTransaction({ fields, decoder }: WrittenRows): (row: readonly Cell[]) => string {
  if (decoder === undefined) return () => '}';
  const [to, input] = ['to_address', 'data'].map(name => fields.indexOf(name));
  return row => closed('', decoder.call({ to: cellText(row, to), input: cellText(row, input) ?? '' }));
}

function behindEvent({ fields, decoder }: WrittenRows): (row: readonly Cell[]) => string {
  const columns = ['topic_0', 'topic_1', 'topic_2', 'topic_3'].map(name => fields.indexOf(name));
  const [address, data] = ['address', 'data'].map(name => fields.indexOf(name));
  return row => {
    const topics = columns.map(column => cellText(row, column)).filter(topic => topic !== null);
    const json = `,"topics":${JSON.stringify(topics)}`;
    if (decoder === undefined) return `${json}}`;
    const log = { address: cellText(row, address) ?? '', topics, data: cellText(row, data) ?? '' };
    return closed(json, decoder.log(log));
  };
}

/** Ends a record. Appends the members of an object's JSON text, if present. */
function closed(json: string, object: string | undefined): string {
  return object === undefined ? `${json}}` : `${json},${object.slice(1)}`;
}

function cellText(row: readonly Cell[], column = -1): string | null {
  const value = row[column] ?? null;
  return value === null ? null : String(value);
}
