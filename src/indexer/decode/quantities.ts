import { uintColumn } from '../../db/columns.ts';
import type { RpcBlock } from '../../evm/rpc.ts';

/** Block time in milliseconds. Nodes return seconds. */
export function timestampMs(block: RpcBlock): number {
  return Number(block.timestamp) * 1000;
}

/** Optional quantity as an exact uint column. */
export function optionalUint(quantity: string | null | undefined): string | null {
  return quantity === null || quantity === undefined ? null : uintColumn(BigInt(quantity));
}

/** Optional quantity that always fits a number, for example a size. */
export function optionalNumber(quantity: string | null | undefined): number | null {
  return quantity === null || quantity === undefined ? null : Number(quantity);
}

/** JSON text of a list; null when the list is empty or absent. */
export function jsonOrNull(list: readonly unknown[] | null | undefined): string | null {
  return list === null || list === undefined || list.length === 0 ? null : JSON.stringify(list);
}

/** Most characters of an error text that are stored. */
const ERROR_CHARACTERS = 4_096;

/** Start of an error text from the node without NUL characters, which PostgreSQL rejects. The text may quote a contract. */
export function errorTextOrNull(words: string | null | undefined): string | null {
  return words?.slice(0, ERROR_CHARACTERS).replaceAll('\0', '') ?? null;
}
