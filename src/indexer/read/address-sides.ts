import type { Address } from 'viem';
import { bytesColumn } from '#db/columns.ts';
import type { Branch } from './page.ts';

/** Side of an address in a transfer or call; both when absent. */
export type Direction = 'from' | 'to';

/** Columns of one side, or of both. */
export function columnsOf(
  direction: Direction | undefined,
  sides: Readonly<Record<Direction, readonly string[]>>,
): readonly string[] {
  return direction === undefined ? [...sides.from, ...sides.to] : sides[direction];
}

/** One branch per column that can contain the address. `sides` are the columns of each side. */
export function sidesOf(
  { address, direction }: { address: Address; direction?: Direction | undefined },
  sides: Readonly<Record<Direction, readonly string[]>>,
): Branch[] {
  return columnsOf(direction, sides).map(column => ({ columns: [column], values: [bytesColumn(address)] }));
}
