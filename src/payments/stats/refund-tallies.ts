import type { PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { exactInteger, uintSumOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { DAY_MS } from '../../lib/clock.ts';
import type { Owner } from '../model/owner.ts';
import type { PaymentChains } from '../model/payment-chain.ts';
import { ownedBy } from '../store/list-query.ts';
import { select } from '../tables/select.ts';
import { namedToken } from './figures.ts';

/** Sums of an owner's completed refunds that were created since a day, by chain and token (Decision 353). */
export async function refundedSince(
  handle: Handle,
  owner: Owner,
  { firstDay, chains }: { firstDay: number; chains: PaymentChains },
): Promise<PaymentsSchemas['TokenRefunds'][]> {
  const { sql, bindings } = ownedBy(owner);
  const rows = await select({
    from: 'refunds',
    columns: ['chain_id', 'token_address'],
    computed: { total: ['count', 'count(*)'], volume: ['text', handle.dialect.exactSum('amount')] },
  }).rows(
    handle,
    `where ${sql} and status = 'completed' and created_at >= ?
     group by chain_id, token_address order by chain_id, token_address`,
    [...bindings, firstDay * DAY_MS],
  );
  return rows.map(({ chain_id: chainId, token_address: tokenAddress, volume, total }) => ({
    ...namedToken({ chainId, tokenAddress }, chains),
    amount: uintSumOf(volume).toString(),
    refunds: exactInteger(total),
  }));
}
