import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { Place } from '../model/place.ts';

/** How many times what may be added to an amount to tell it from others fits into the amount. Decision 110. */
const PARTS = 1000n;

/**
 * The smallest amount, from the given one to 0.1 % more, that no open session of this place asks for; undefined when
 * all are taken.
 */
export async function freeAmount(handle: Handle, place: Place, amount: bigint): Promise<bigint | undefined> {
  const highest = amount + amount / PARTS;
  const rows = await rowsOf<{ amount_due: string }>(
    handle,
    `select amount_due from checkout_sessions
     where status = 'active' and not is_wallet_only
       and chain_id = ? and token_address = ? and recipient_address = ? and amount_due between ? and ?
     order by amount_due`,
    [place.chainId, place.tokenAddress, place.recipientAddress, uintColumn(amount), uintColumn(highest)],
  );
  const free =
    amount +
    BigInt(
      unbroken(
        rows.map(row => row.amount_due),
        amount,
      ),
    );
  return free <= highest ? free : undefined;
}

/**
 * How many of these, which ascend from `first` or more and are all different, follow each other without a gap. From a
 * gap on each is higher than its position says, so halving finds it.
 */
function unbroken(columns: readonly string[], first: bigint): number {
  let [low, high] = [0, columns.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (columns[middle] === uintColumn(first + BigInt(middle))) low = middle + 1;
    else high = middle;
  }
  return low;
}
