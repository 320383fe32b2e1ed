import type { InsightsSchemas } from '#contract/contracts/insights.ts';
import type { FieldValues } from '../query.ts';

/** Records of the contract by the entity whose rows become them. */
export interface EntityRecords {
  readonly blocks: InsightsSchemas['Block'];
  readonly transactions: InsightsSchemas['Transaction'];
  readonly events: InsightsSchemas['ContractEvent'];
}

/** A row of the index as a record of the contract. */
export type RecordReader<Record> = (row: FieldValues) => Record;

/** What decodes the rows of one page. A field `decoded` for each, or nothing. */
export interface RowDecoder {
  call(row: FieldValues): Pick<EntityRecords['transactions'], 'decoded'> | undefined;
  log(row: FieldValues): Pick<EntityRecords['events'], 'decoded'> | undefined;
}

/** Readers for the rows of each entity. Without a decoder records have no `decoded`. */
export function recordReaders(decoder?: RowDecoder): {
  [E in keyof EntityRecords]: RecordReader<EntityRecords[E]>;
} {
  return {
    blocks: block,
    transactions: row => ({ ...transaction(row), ...decoder?.call(row) }),
    events: row => ({ ...event(row), ...decoder?.log(row) }),
  };
}

function block(row: FieldValues): EntityRecords['blocks'] {
  return {
    chain_id: number(row, 'chain_id'),
    block_number: number(row, 'block_number'),
    block_hash: text(row, 'block_hash'),
    parent_hash: text(row, 'parent_hash'),
    block_timestamp: number(row, 'block_timestamp'),
    nonce: textOrNull(row, 'nonce'),
    sha3_uncles: text(row, 'sha3_uncles'),
    mix_hash: textOrNull(row, 'mix_hash'),
    miner: text(row, 'miner'),
    state_root: text(row, 'state_root'),
    transactions_root: text(row, 'transactions_root'),
    receipts_root: text(row, 'receipts_root'),
    logs_bloom: text(row, 'logs_bloom'),
    size: number(row, 'size'),
    extra_data: text(row, 'extra_data'),
    difficulty: text(row, 'difficulty'),
    total_difficulty: textOrNull(row, 'total_difficulty'),
    transaction_count: number(row, 'transaction_count'),
    gas_limit: number(row, 'gas_limit'),
    gas_used: number(row, 'gas_used'),
    withdrawals_root: textOrNull(row, 'withdrawals_root'),
    base_fee_per_gas: numberOrNull(row, 'base_fee_per_gas'),
  };
}

function transaction(row: FieldValues): EntityRecords['transactions'] {
  return {
    chain_id: text(row, 'chain_id'),
    block_number: number(row, 'block_number'),
    block_hash: text(row, 'block_hash'),
    block_timestamp: number(row, 'block_timestamp'),
    hash: text(row, 'hash'),
    nonce: integer(row, 'nonce'),
    transaction_index: number(row, 'transaction_index'),
    from_address: text(row, 'from_address'),
    to_address: textOrNull(row, 'to_address'),
    value: text(row, 'value'),
    gas_price: text(row, 'gas_price'),
    gas: integer(row, 'gas'),
    function_selector: text(row, 'function_selector'),
    data: text(row, 'data'),
    max_fee_per_gas: textOrNull(row, 'max_fee_per_gas'),
    max_priority_fee_per_gas: textOrNull(row, 'max_priority_fee_per_gas'),
    transaction_type: number(row, 'transaction_type'),
    r: text(row, 'r'),
    s: text(row, 's'),
    v: text(row, 'v'),
    ...given(row, 'access_list_json', text),
    ...given(row, 'authorization_list_json', text),
    ...given(row, 'contract_address', text),
    ...given(row, 'gas_used', number),
    ...given(row, 'cumulative_gas_used', number),
    ...given(row, 'effective_gas_price', text),
    ...given(row, 'blob_gas_used', number),
    ...given(row, 'blob_gas_price', text),
    ...given(row, 'logs_bloom', text),
    ...given(row, 'status', status),
  };
}

function event(row: FieldValues): EntityRecords['events'] {
  return {
    chain_id: text(row, 'chain_id'),
    block_number: number(row, 'block_number'),
    block_hash: text(row, 'block_hash'),
    block_timestamp: number(row, 'block_timestamp'),
    transaction_hash: text(row, 'transaction_hash'),
    transaction_index: number(row, 'transaction_index'),
    log_index: number(row, 'log_index'),
    address: text(row, 'address'),
    data: text(row, 'data'),
    topics: topics(row),
  };
}

/** Topics of a log in their order. */
export function topics(row: FieldValues): string[] {
  return ['topic_0', 'topic_1', 'topic_2', 'topic_3']
    .map(name => textOrNull(row, name))
    .filter(topic => topic !== null);
}

/** An optional field of a record: absent where the row has nothing. */
function given<Name extends string, Value>(
  row: FieldValues,
  name: Name,
  read: (row: FieldValues, name: Name) => Value,
): { [Key in Name]?: Value } {
  const field: { [Key in Name]?: Value } = {};
  if (!isNothing(row[name])) field[name] = read(row, name);
  return field;
}

function status(row: FieldValues, name: string): 0 | 1 {
  return integer(row, name) === 1n ? 1 : 0;
}

function number(row: FieldValues, name: string): number {
  return Number(integer(row, name));
}

function numberOrNull(row: FieldValues, name: string): number | null {
  return isNothing(row[name]) ? null : number(row, name);
}

/** @throws TypeError when the row has nothing there */
export function text(row: FieldValues, name: string): string {
  const value = row[name];
  if (isNothing(value)) throw new TypeError(`A row of the index has no ${name}.`);
  return String(value);
}

export function textOrNull(row: FieldValues, name: string): string | null {
  return isNothing(row[name]) ? null : text(row, name);
}

function integer(row: FieldValues, name: string): bigint {
  return BigInt(text(row, name));
}

function isNothing(value: bigint | string | null | undefined): value is null | undefined {
  return value === null || value === undefined;
}
