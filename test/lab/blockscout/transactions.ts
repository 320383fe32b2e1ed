import { each, type Fields, fieldsOf, listOf } from '#data/backends/upstream-json/fields.ts';
import { decoded } from './decoded.ts';
import { type Generation, named, renamed, since } from './generation.ts';
import { address, token, tokenInstance } from './parties.ts';
import type { WriteReason } from './reverts.ts';

/** Writes a transaction for a list or as a single record. */
export function transactionWriter(writeReason: WriteReason, isSingle: boolean) {
  return (generation: Generation, record: Fields): Fields => {
    const { block_number: block, confirmations, token_transfers: transfers } = record;
    const isMined = block !== null;
    return {
      ...sameOf(record),
      ...feesOf(generation, record),
      ...renamed(generation, 'block', 'block_number', block),
      gas_limit: String(record.gas_limit),
      // Upstream also counts the block of the transaction.
      confirmations: isMined ? Number(confirmations) + 1 : 0,
      method: record.to === null ? String(record.raw_input).slice(0, 10) : record.method,
      to: address(generation, record.to),
      from: address(generation, record.from),
      created_contract: address(generation, record.created_contract),
      revert_reason: writeReason(generation, record.revert_reason, isSingle),
      // No generation shows them in lists.
      token_transfers: isSingle
        ? each(transfers, item => tokenTransfer(generation, { block_number: block, ...fieldsOf(item) }))
        : null,
      token_transfers_overflow: isSingle ? record.token_transfers_overflow : null,
      ...renamed(generation, 'tx_types', 'transaction_types', typesOf(generation, record)),
      ...renamed(
        generation,
        'has_error_in_internal_txs',
        'has_error_in_internal_transactions',
        record.has_error_in_internal_transactions,
      ),
      ...renamed(generation, 'tx_tag', 'transaction_tag', null),
      decoded_input: decoded(record.decoded_input),
      confirmation_duration: listOf(record.confirmation_duration).map(asFloat),
      ...named(
        generation,
        [],
        [
          { name: 'actions', until: 'v9.3' },
          { name: 'authorization_list', from: 'v6.9' },
        ],
      ),
      ...named(generation, null, [{ name: 'historic_exchange_rate', from: 'v8' }]),
      ...named(generation, false, [{ name: 'is_pending_update', from: 'v9.3' }]),
      ...named(generation, 0, [{ name: 'fhe_operations_count', from: 'v11' }]),
    };
  };
}

function sameOf(record: Fields): Fields {
  const { timestamp, fee, status, type, exchange_rate, value, result, hash, position, nonce } = record;
  const { raw_input } = record;
  return { timestamp, fee, status, type, exchange_rate, value, result, hash, position, nonce, raw_input };
}

function feesOf(generation: Generation, record: Fields): Fields {
  const { max_fee_per_gas, gas_price, priority_fee, base_fee_per_gas, max_priority_fee_per_gas, gas_used } =
    record;
  // The burnt fee of a transaction without a tip is omitted.
  const burnt = max_fee_per_gas === null ? null : record.transaction_burnt_fee;
  return {
    ...{ max_fee_per_gas, gas_price, priority_fee, base_fee_per_gas, max_priority_fee_per_gas, gas_used },
    // These were renamed later than the others.
    ...named(generation, burnt, [
      { name: 'tx_burnt_fee', until: 'v6.9' },
      { name: 'transaction_burnt_fee', from: 'v8' },
    ]),
  };
}

function typesOf(generation: Generation, { transaction_types: types, type }: Fields): unknown[] {
  const blob = type === 3 ? ['blob_transaction'] : [];
  const setCode = type === 4 && since(generation, 'v9.3') ? ['set_code_transaction'] : [];
  return [...listOf(types), ...blob, ...setCode];
}

/** A number as upstream's server writes floats: `1.2e4`. */
function asFloat(value: unknown): unknown {
  const [digits = '0', exponent] = Number(value).toExponential().split('e+');
  return JSON.rawJSON(`${digits.includes('.') ? digits : `${digits}.0`}e${exponent}`);
}

/** A token transfer, inside a transaction or in a list. */
export function tokenTransfer(generation: Generation, record: Fields): Fields {
  const { block_hash, method, timestamp, type, total } = record;
  return {
    block_hash,
    method: method ?? null,
    timestamp: timestamp ?? null,
    type,
    log_index: since(generation, 'v6.9') ? record.log_index : String(record.log_index),
    from: address(generation, record.from),
    to: address(generation, record.to),
    token: token(generation, record.token),
    total: total === null ? null : totalOf(generation, fieldsOf(total)),
    ...renamed(generation, 'tx_hash', 'transaction_hash', record.transaction_hash),
    ...named(generation, record.block_number, [{ name: 'block_number', from: 'v6.9' }]),
    ...named(generation, record.token_type ?? fieldsOf(record.token).type, [
      { name: 'token_type', from: 'v9.3' },
    ]),
  };
}

function totalOf(generation: Generation, total: Fields): Fields {
  if (total.token_id === undefined) return total;
  return { ...total, token_instance: tokenInstance(generation, total.token_instance) };
}

/** An internal transaction. */
export function internalTransaction(generation: Generation, record: Fields): Fields {
  const { error, gas_limit, index, success, timestamp, transaction_hash, type, value } = record;
  return {
    ...{ error, gas_limit, index, success, timestamp, transaction_hash, type, value },
    from: address(generation, record.from),
    to: address(generation, record.to),
    created_contract: address(generation, record.created_contract),
    ...renamed(generation, 'block', 'block_number', record.block_number),
    ...named(generation, null, [
      { name: 'transaction_index', from: 'v6.9' },
      { name: 'block_index', from: 'v6.9', until: 'v9.3' },
    ]),
  };
}

/** A log. Its block exists since 5.3, and its topics are padded to four. */
export function log(generation: Generation, record: Fields): Fields {
  const { data, index } = record;
  const event = decoded(record.decoded);
  return {
    data,
    index,
    address: address(generation, record.address),
    smart_contract: address(generation, record.smart_contract),
    decoded: event === null || !since(generation, 'v12') ? event : { ...event, abi: null },
    topics: [...listOf(record.topics), null, null, null, null].slice(0, 4),
    ...renamed(generation, 'tx_hash', 'transaction_hash', record.transaction_hash),
    ...named(generation, record.block_hash, [{ name: 'block_hash', from: 'v6.9' }]),
    ...named(generation, record.block_number, [{ name: 'block_number', from: 'v6.9' }]),
    ...named(generation, null, [{ name: 'block_timestamp', from: 'v11' }]),
  };
}
