import type { Transaction } from '../../db/open.ts';
import { newId } from '../../lib/ids.ts';
import type { Owner } from '../model/owner.ts';
import type { UnmatchedTransfer } from '../model/transfer.ts';
import type { Seals } from '../secrets/sealed.ts';
import { select } from '../tables/select.ts';
import { unmatchedTransferData } from './event-data.ts';
import { eventStore } from './event-store.ts';

const HOUR_MS = 3_600_000;

/**
 * Most events of one owner within an hour, and their order among events of the same millisecond, by which they are
 * counted. A transfer with a suggested session is nearly as large as a price, so it costs its sender more than dust.
 */
const SUGGESTED = { most: 100, order: 2 } as const;
const OTHERS = { most: 10, order: 3 } as const;

/**
 * Records `transfer.unmatched` for transfers that were just confirmed (Decision 356). Beyond the limits they are only
 * listed, so that dust becomes no flood of deliveries. The largest transfers come first.
 */
export async function reportUnmatched(
  { handle, seals, now }: { readonly handle: Transaction; readonly seals: Seals; readonly now: number },
  transfers: readonly UnmatchedTransfer[],
): Promise<void> {
  const largestFirst = transfers.toSorted(
    (a, b) => Number(b.amount > a.amount) - Number(a.amount > b.amount),
  );
  const alike = Map.groupBy(
    largestFirst,
    ({ organizationId, mode, suggestedSessionId }) =>
      `${organizationId} ${mode} ${suggestedSessionId !== null}`,
  );
  for (const some of alike.values()) {
    const [first] = some;
    if (first === undefined) continue;
    const { most, order } = first.suggestedSessionId === null ? OTHERS : SUGGESTED;
    const left = most - (await countOf(handle, first, { order, since: now - HOUR_MS }));
    const reported = some.slice(0, Math.max(0, left)).map(transfer => {
      const { organizationId, mode, chainId, txHash, logIndex } = transfer;
      const data = unmatchedTransferData(transfer);
      return {
        event: {
          id: newId('evt'),
          organizationId,
          mode,
          type: 'transfer.unmatched',
          createdAt: now,
          data,
        } as const,
        // A transfer that a reorganisation drops has another id when it is listed again.
        fact: `${chainId}:${txHash}:${logIndex}:${organizationId}:${mode}:unmatched`,
        order,
      };
    });
    await eventStore(handle, seals).insert(reported);
  }
}

/** Number of an owner's events for unmatched transfers of one order since a time in UTC milliseconds. */
async function countOf(
  handle: Transaction,
  { organizationId, mode }: Owner,
  { order, since }: { order: number; since: number },
): Promise<number> {
  const [row] = await select({ computed: { total: ['count', 'count(*)'] } }).rows(
    handle,
    `from events where organization_id = ? and mode = ? and created_at > ? and place = ? and type = 'transfer.unmatched'`,
    [organizationId, mode, since, order],
  );
  return row?.total ?? 0;
}
