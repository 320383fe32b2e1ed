import type { Address } from 'viem';
import { bytesColumn } from '#db/columns.ts';
import type { Branch } from './page.ts';

/** Side of an address in what happened; both when absent. */
export type Direction = 'from' | 'to';

/** A branch for each column in which the address can stand. `sides` are the columns of each side. */
export function sidesOf(
  { address, direction }: { address: Address; direction?: Direction },
  sides: Readonly<Record<Direction, readonly string[]>>,
): Branch[] {
  const columns = direction === undefined ? [...sides.from, ...sides.to] : sides[direction];
  return columns.map(column => ({ columns: [column], values: [bytesColumn(address)] }));
}
