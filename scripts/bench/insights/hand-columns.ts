/** Hand-written columns of a record: hexadecimal made by SQLite, amounts without their prefix. */

const hex = (column: string, name: string) =>
  `iif(${column} is null, null, '0x' || lower(hex(${column}))) as ${name}`;
const amount = (column: string) => `substr(${column}, 3) as ${column.slice(2)}`;

const CHAIN = `(select cast(chain_id as text) from index_state) as chain_id, p.id >> 20 as block_number,
  ${hex('b.hash', 'block_hash')}`;

export const TRANSACTION_JOINS = `join transactions t on t.id = p.id join transaction_details d on d.id = p.id
  join blocks b on b.number = p.id >> 20`;

export const TRANSACTION_COLUMNS = `${CHAIN}, t.timestamp / 1000 as block_timestamp, ${hex('t.hash', 'record_hash')},
  ${amount('t.nonce')}, t.id & 1048575 as transaction_index, ${hex('t.from_address', 'from_address')},
  ${hex('t.to_address', 'to_address')}, ${amount('t.value')}, ${amount('t.gas_price')}, ${amount('t.gas_limit')},
  ${hex('t.selector', 'function_selector')}, ${hex('t.input', 'data')}, ${amount('t.max_fee_per_gas')},
  ${amount('t.max_priority_fee_per_gas')}, t.type, ${hex('d.r', 'r')}, ${hex('d.s', 's')}, ${amount('d.v')},
  ${hex('t.created_contract', 'contract_address')}, t.gas_used, d.cumulative_gas_used, t.blob_gas_used,
  ${amount('t.blob_gas_price')}, ${hex('d.logs_bloom', 'logs_bloom')}, t.status, d.access_list, t.authorization_list`;

export const EVENT_JOINS = `join logs l on l.id = p.id join transactions t on t.id = l.transaction_id
  join blocks b on b.number = p.id >> 20`;

export const EVENT_COLUMNS = `${CHAIN}, l.timestamp / 1000 as block_timestamp, ${hex('t.hash', 'record_hash')},
  l.transaction_id & 1048575 as transaction_index, l.id & 1048575 as log_index, ${hex('l.address', 'address')},
  ${hex('l.data', 'data')}, ${hex('l.topic0', 'topic_0')}, ${hex('l.topic1', 'topic_1')},
  ${hex('l.topic2', 'topic_2')}, ${hex('l.topic3', 'topic_3')}`;
