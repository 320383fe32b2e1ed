import type { Refund } from '../../model/refund.ts';
import { LIFE_ALLOWANCE } from '../../model/session.ts';
import type { Transfer } from '../../model/transfer.ts';
import { changeInParts, type EffectScope, type Look } from '../look/look.ts';
import { type HashLookup, transfersIn } from '../node/by-hash.ts';

/** The transfers of a transaction that send exactly what a refund asks for. */
export function transfersOf(
  refund: Refund,
  lookup: HashLookup,
  { chain, coinLogsFrom }: Pick<Look, 'chain' | 'coinLogsFrom'>,
): Transfer[] {
  const { tokenAddress, destination } = refund;
  const watched = {
    has: (token: string, recipient: string) => token === tokenAddress && recipient === destination,
  };
  return transfersIn(lookup, { chainId: chain.id, watched, coinLogsFrom }).filter(one =>
    isTransferOf(refund, one),
  );
}

/** True when the transfer sends exactly what the refund asks for, after it was created (Decision 352). */
export function isTransferOf(
  { tokenAddress, destination, amount, afterBlock, createdAt }: Refund,
  transfer: Transfer,
): boolean {
  return (
    transfer.tokenAddress === tokenAddress &&
    transfer.recipient === destination &&
    transfer.amount === amount &&
    transfer.blockNumber > (afterBlock ?? -1) &&
    transfer.blockTime >= createdAt - LIFE_ALLOWANCE.beforeMs
  );
}

/** Changes rows one by one, in parts with a transaction each. Returns the number of those that did change. */
export async function changed<Row>(
  look: Look,
  rows: readonly Row[],
  change: (row: Row, scope: EffectScope) => Promise<boolean>,
): Promise<number> {
  const counts = await changeInParts(look, { name: 'refunds', rows }, async (part, scope) => {
    let count = 0;
    for (const row of part) if (await change(row, scope)) count += 1;
    return count;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
