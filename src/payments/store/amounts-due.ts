import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { type Binding, rowsOf } from '../../db/query.ts';
import type { Place } from '../model/place.ts';

/** How many times what may be added to an amount to tell it from others fits into the amount. Decision 110. */
const PARTS = 1000n;
/** The largest amount that a token can express. */
const LARGEST = 2n ** 256n - 1n;

/** How long an amount stays with a session that expired: who is late by less does not pay for somebody else. */
const KEPT_MS = 3_600_000;

/**
 * The smallest amount, from the given one to 0.1 % more, that no open session of this place asks for, and none that
 * expired within the last hour unless all are taken by those; undefined when all are taken by open ones.
 */
export async function freeAmount(
  handle: Handle,
  place: Place,
  { amount, now }: { amount: bigint; now: number },
): Promise<bigint | undefined> {
  const wanted = amount + amount / PARTS;
  const highest = wanted < LARGEST ? wanted : LARGEST;
  const range = [
    place.chainId,
    place.tokenAddress,
    place.recipientAddress,
    uintColumn(amount),
    uintColumn(highest),
  ];
  const inRange = `not is_wallet_only and chain_id = ? and token_address = ? and recipient_address = ?
    and amount_due between ? and ?`;
  const open = `select amount_due from checkout_sessions where status = 'active' and ${inRange}`;
  const lately = `select amount_due from checkout_sessions where status = 'expired' and ${inRange} and ended_at > ?`;
  const firstFree = async (taken: string, bindings: readonly Binding[]) => {
    const rows = await rowsOf<{ amount_due: string }>(handle, `${taken} order by amount_due`, bindings);
    const columns = rows.map(row => row.amount_due);
    const free = amount + BigInt(unbroken(columns, amount));
    return free <= highest ? free : undefined;
  };
  return (
    (await firstFree(`${open} union ${lately}`, [...range, ...range, now - KEPT_MS])) ??
    firstFree(open, range)
  );
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
