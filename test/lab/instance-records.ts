import { hash as digest } from 'node:crypto';
import type { Fields } from '../../src/data/backends/upstream-json/fields.ts';

/*
 * Records in the form of Blockscout. Each is computed from its chain and its id, so that an answer can be verified
 * without storing the records.
 */

export const TRANSACTIONS_A_BLOCK = 3;
const START = Date.UTC(2026, 0, 1);

/** 32 bytes computed from a text. */
export function hashOf(text: string): string {
  return `0x${digest('sha256', text)}`;
}

export function addressOf(text: string): string {
  return hashOf(text).slice(0, 42);
}

/** Amount that is unique to this record of this chain. */
function amountOf(chainId: number, id: string): string {
  return BigInt(`0x${digest('sha256', `${chainId} ${id}`).slice(0, 12)}`).toString();
}

function party(hash: string): Fields {
  return { hash, is_contract: false, is_verified: null, name: null, implementations: [] };
}

function timeOf(block: number): string {
  return `${new Date(START + 12_000 * block).toISOString().slice(0, -1)}000Z`;
}

/** Place of a transaction in its chain. */
export interface Place {
  readonly chainId: number;
  readonly head: number;
  readonly hash: string;
  /** Number of the transaction within its chain, from 0. */
  readonly number: number;
}

function blockOf({ number }: Place): number {
  return Math.floor(number / TRANSACTIONS_A_BLOCK);
}

export function transaction(place: Place): Fields {
  const { chainId, head, hash, number } = place;
  const block = blockOf(place);
  return {
    hash,
    value: amountOf(chainId, hash),
    nonce: number,
    position: number % TRANSACTIONS_A_BLOCK,
    block_number: block,
    confirmations: head - block + 1,
    timestamp: timeOf(block),
    status: 'ok',
    result: 'success',
    type: 2,
    gas_limit: '21000',
    gas_used: '21000',
    gas_price: '1000000000',
    fee: { type: 'actual', value: '21000000000000' },
    raw_input: '0x',
    method: null,
    from: party(addressOf(`sender of ${hash}`)),
    to: party(addressOf(`receiver of ${hash}`)),
    transaction_types: ['coin_transfer'],
    token_transfers: null,
  };
}

export function log(place: Place, index: number): Fields {
  const { chainId, hash } = place;
  return {
    address: party(addressOf(`emitter of ${hash}`)),
    data: hashOf(`log ${index} of ${hash} on ${chainId}`),
    decoded: null,
    index,
    topics: [hashOf('event'), null, null, null],
    transaction_hash: hash,
    block_number: blockOf(place),
    block_hash: blockHash(chainId, blockOf(place)),
  };
}

export function internalTransaction(place: Place, index: number): Fields {
  const { chainId, hash } = place;
  return {
    block_number: blockOf(place),
    transaction_hash: hash,
    index,
    type: 'call',
    success: true,
    error: null,
    gas_limit: '21000',
    value: amountOf(chainId, `call ${index} of ${hash}`),
    timestamp: timeOf(blockOf(place)),
    from: party(addressOf(`sender of ${hash}`)),
    to: party(addressOf(`receiver of ${hash}`)),
  };
}

export function blockHash(chainId: number, height: number): string {
  return hashOf(`block ${height} of ${chainId}`);
}

export function block(chainId: number, height: number): Fields {
  const hash = blockHash(chainId, height);
  return {
    hash,
    height,
    parent_hash: blockHash(chainId, height - 1),
    gas_used: amountOf(chainId, hash),
    gas_limit: '30000000',
    miner: party(addressOf(`validator of ${chainId}`)),
    nonce: '0x0000000000000000',
    timestamp: timeOf(height),
    transaction_fees: '0',
    transactions_count: TRANSACTIONS_A_BLOCK,
    size: 1000,
    type: 'block',
    rewards: [],
    uncles_hashes: [],
  };
}

export function withdrawal(chainId: number, address: string, index: number): Fields {
  return {
    index,
    amount: amountOf(chainId, `withdrawal ${index} of ${address}`),
    validator_index: 1,
    block_number: index,
    timestamp: timeOf(index),
  };
}

export function smartContract(chainId: number, address: string): Fields {
  return { name: `Contract${amountOf(chainId, address)}`, is_verified: true, deployed_bytecode: '0x00' };
}

export function tokenInstance(chainId: number, address: string, id: string): Fields {
  return {
    id,
    is_unique: true,
    image_url: `https://images.test/${amountOf(chainId, `${address} ${id}`)}`,
    owner: party(addressOf(`owner of ${id}`)),
    token: null,
  };
}
