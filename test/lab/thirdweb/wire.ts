import { type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { isObject } from '#lib/json.ts';
import type { ThirdwebGeneration } from './generation.ts';

/** Converts a record of our service to the format of a generation. */
export type Wire = (record: Fields, asked: { generation: ThirdwebGeneration; isDecoded: boolean }) => Fields;

const ZERO = `0x${'0'.repeat(40)}`;
/** Amounts that were JSON numbers of any size before October 2025. */
const AMOUNTS = [
  'value',
  'gas_price',
  'max_fee_per_gas',
  'max_priority_fee_per_gas',
  'effective_gas_price',
  'blob_gas_price',
  'r',
  's',
  'v',
];

/** A block. Missing fields are empty texts. */
export const blockWire: Wire = record => ({
  ...record,
  total_difficulty: record.total_difficulty ?? '',
  withdrawals_root: record.withdrawals_root ?? '',
  base_fee_per_gas: record.base_fee_per_gas ?? 0,
});

/** A transaction. Missing fields are zero, including those of the receipt. */
export const transactionWire: Wire = ({ decoded, ...record }, { generation, isDecoded }) => {
  const whole = {
    ...record,
    to_address: record.to_address ?? ZERO,
    contract_address: record.contract_address ?? ZERO,
    max_fee_per_gas: record.max_fee_per_gas ?? '0',
    max_priority_fee_per_gas: record.max_priority_fee_per_gas ?? '0',
    access_list_json: record.access_list_json ?? '',
    authorization_list_json: record.authorization_list_json ?? '',
    blob_gas_used: record.blob_gas_used ?? 0,
    blob_gas_price: record.blob_gas_price ?? '0',
    function_selector: record.function_selector === '0x' ? '' : record.function_selector,
    ...(isDecoded ? { decoded: decoded ?? { name: '', signature: '', inputs: null } } : {}),
  };
  return generation === '2025-07' ? older(whole) : whole;
};

/** An event. Before October 2025 its parameters had another name, and its topics were padded. */
export const eventWire: Wire = ({ decoded, ...record }, { generation, isDecoded }) => {
  const known = isObject(decoded) ? decoded : undefined;
  const failed = { name: '', signature: '', indexed_params: null, non_indexed_params: null };
  if (generation === '2025-10') {
    return { ...record, ...(known || isDecoded ? { decoded: known ?? failed } : {}) };
  }
  const topics = listOf(record.topics);
  return {
    ...record,
    block_number: String(record.block_number),
    topics: [...topics, ...Array.from({ length: 4 - topics.length }, () => '')],
    ...(known === undefined
      ? {}
      : {
          decodedData: {
            name: known.name,
            signature: known.signature,
            indexedParams: known.indexed_params,
            nonIndexedParams: known.non_indexed_params,
          },
        }),
  };
};

/** A balance, without owner and token type. */
export const balanceWire: Wire = ({ owner_address: _, token_type: __, ...record }) => record;
/** The result of resolving a text, with each record in its format. */
export const resolvedWire: Wire = ({ blocks, transactions, events, ...record }, asked) => ({
  ...record,
  ...listWire({ blocks }, blockWire, asked),
  ...listWire({ transactions }, transactionWire, asked),
  ...listWire({ events }, eventWire, asked),
});

function listWire(lists: Fields, wire: Wire, asked: Parameters<Wire>[1]): Fields {
  const given = Object.entries(lists).filter(([, list]) => list !== undefined);
  return Object.fromEntries(
    given.map(([name, list]) => [name, listOf(list).map(row => wire(fieldsOf(row), asked))]),
  );
}

/** An NFT of an owner, without the owner. */
export const nftWire: Wire = ({ owner_addresses: _, ...record }) => record;

function older({ decoded, ...record }: Fields): Fields {
  const bare = AMOUNTS.filter(name => typeof record[name] === 'string').map(name => [
    name,
    BigInt(String(record[name])),
  ]);
  return {
    ...record,
    ...Object.fromEntries(bare),
    block_number: String(record.block_number),
    ...(decoded === undefined ? {} : { decodedData: decoded }),
  };
}
