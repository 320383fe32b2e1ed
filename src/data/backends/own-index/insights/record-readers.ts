import { type AbiEvent, type Address, type Hex, isAddress, isHex } from 'viem';
import type { Abis } from '#evm/abi/abi.ts';
import type { DecodingBudget } from '#evm/abi/decoding-budget.ts';
import type { FieldValues } from '#indexer/query/query.ts';
import type { EntityRecords } from '../../port/insights-backend.ts';
import { decodedCall, decodedEvent } from './decoded.ts';

/** A row of the index as a record of the contract. */
export type RecordReader<Record> = (row: FieldValues) => Record;

export interface RecordReaderOptions {
  readonly abis: Abis;
  /** Whether records get `decoded`. */
  readonly decode: boolean;
  /** An event to decode by before all others. */
  readonly like?: AbiEvent | undefined;
  /** What all records together may have of `decoded`: those beyond it have none. */
  readonly budget: DecodingBudget;
}

/** How the rows of each entity become records. */
export function recordReaders(options: RecordReaderOptions): {
  [E in keyof EntityRecords]: RecordReader<EntityRecords[E]>;
} {
  return {
    blocks: block,
    transactions: row => ({ ...transaction(row), ...decodedInput(row, options) }),
    events: row => ({ ...event(row), ...decodedLog(row, options) }),
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

function decodedInput(row: FieldValues, { abis, decode, budget }: RecordReaderOptions) {
  const to = textOrNull(row, 'to_address');
  if (!decode || to === null || budget.left <= 0) return undefined;
  const decoded = abis.callOf({ to: addressed(to), input: hex(text(row, 'data')) }, budget);
  return decoded === null ? undefined : within(budget, { decoded: decodedCall(decoded) });
}

function decodedLog(row: FieldValues, { abis, decode, like, budget }: RecordReaderOptions) {
  if (!decode || budget.left <= 0) return undefined;
  const decoded = abis.eventOf(
    {
      address: addressed(text(row, 'address')),
      topics: topics(row).map(hex),
      data: hex(text(row, 'data')),
    },
    like,
    budget,
  );
  return decoded === null ? undefined : within(budget, { decoded: decodedEvent(decoded) });
}

/** Names and digits can make the text much longer than the values are. */
function within<Described>(budget: DecodingBudget, described: Described): Described | undefined {
  budget.left -= JSON.stringify(described).length;
  return budget.left >= 0 ? described : undefined;
}

function topics(row: FieldValues): string[] {
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

function text(row: FieldValues, name: string): string {
  const value = row[name];
  if (isNothing(value)) throw new TypeError(`A row of the index has no ${name}.`);
  return String(value);
}

function textOrNull(row: FieldValues, name: string): string | null {
  return isNothing(row[name]) ? null : text(row, name);
}

function integer(row: FieldValues, name: string): bigint {
  return BigInt(text(row, name));
}

function isNothing(value: bigint | string | null | undefined): value is null | undefined {
  return value === null || value === undefined;
}

function hex(value: string): Hex {
  if (!isHex(value)) throw new TypeError('A row of the index has no hex where it must.');
  return value;
}

function addressed(value: string): Address {
  if (!isAddress(value, { strict: false }))
    throw new TypeError('A row of the index has no address where it must.');
  return value;
}
