import { uintColumn } from '../../db/columns.ts';
import type { RpcBlock } from '../../evm/rpc.ts';

/** Block times are seconds on the wire and milliseconds inside. */
export function timestampMs(block: RpcBlock): number {
  return Number(block.timestamp) * 1000;
}

/** A quantity that may be absent, exactly, as a column. */
export function optionalUint(quantity: string | null | undefined): string | null {
  return quantity === null || quantity === undefined ? null : uintColumn(BigInt(quantity));
}

/** The same for what is always a small number, such as a size. */
export function optionalNumber(quantity: string | null | undefined): number | null {
  return quantity === null || quantity === undefined ? null : Number(quantity);
}

/** JSON text of a list; null when there is nothing in it. */
export function jsonOrNull(list: readonly unknown[] | null | undefined): string | null {
  return list === null || list === undefined || list.length === 0 ? null : JSON.stringify(list);
}

/** Words of the node, which may quote a contract, without NUL: PostgreSQL refuses it in a text. */
export function wordsOrNull(words: string | null | undefined): string | null {
  return words?.replaceAll('\0', '') ?? null;
}
