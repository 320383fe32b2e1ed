import { uintColumn, uintOf } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { placeholders } from '../../db/rows.ts';
import { readRows, unionAll } from '../../db/select/select.ts';
import type { PaidAddress } from '../model/payment-chain.ts';
import { MAX_PAYMENTS, mostPaymentsAtAddress } from '../model/session.ts';
import type { Transfer } from '../model/transfer.ts';
import { select } from '../tables/select.ts';
import { AT_ADDRESS, AT_DEPOSIT_ADDRESS, bindingsOf } from './session-rows.ts';

/** The facts of a transfer by which a session may be paid. */
type Payment = Pick<Transfer, 'sender' | 'amount'>;

/** A session with `MAX_PAYMENTS` takes no more. Counts only up to that. */
const HAS_ROOM = `(select count(*) from (select 1 from transactions t
  where t.session_id = checkout_sessions.id and t.sender is not null limit ${MAX_PAYMENTS}) counted) < ${MAX_PAYMENTS}`;
const PAYMENTS = `(select count(*) from transactions t
  where t.session_id = checkout_sessions.id and t.sender is not null)`;

const ASKED = select({ from: 'checkout_sessions', isDistinct: true, columns: ['amount_due'] });

/**
 * Selects those of many transfers to one paid address that may pay a session which is active or ended at
 * `endedAfter` or later: their sender signed for it, or it asks for their amount, and it still has room. All others
 * match no session. All transfers to a deposit address may pay its session. Takes three statements, so that a flood of
 * small transfers costs little.
 */
export async function payableTransfers<Some extends Payment>(
  handle: Handle,
  address: PaidAddress,
  { transfers, endedAfter }: { readonly transfers: readonly Some[]; readonly endedAfter: number },
): Promise<Some[]> {
  const [itsOwn] = await select({
    from: 'checkout_sessions',
    columns: ['amount', 'tolerance_bps'],
    computed: { payments: ['count', PAYMENTS] },
  }).rows(handle, `where ${AT_DEPOSIT_ADDRESS}`, bindingsOf(address));
  if (itsOwn !== undefined) {
    const price = { amount: uintOf(itsOwn.amount), toleranceBps: itsOwn.tolerance_bps };
    return transfers.filter(({ amount }) => itsOwn.payments < mostPaymentsAtAddress(price, amount));
  }
  const senders = [...new Set(transfers.map(({ sender }) => sender))];
  const amounts = [...new Set(transfers.map(({ amount }) => uintColumn(amount)))];
  const bySigner = await select({
    from: 'checkout_sessions',
    isDistinct: true,
    columns: ['signed_address'],
  }).rows(
    handle,
    `where ${AT_ADDRESS} and signed_address in (${placeholders(senders.length)})
       and (ended_at is null or ended_at >= ?) and ${HAS_ROOM}`,
    [...bindingsOf(address), ...senders, endedAfter],
  );
  const isAsked = `not is_wallet_only and ${AT_ADDRESS} and amount_due in (${placeholders(amounts.length)}) and ${HAS_ROOM}`;
  const asked = [...bindingsOf(address), ...amounts];
  const byAmount = await readRows(
    handle,
    unionAll([
      ASKED.query(handle, `where status = 'active' and ${isAsked}`, asked),
      ...['completed', 'expired'].map(status =>
        ASKED.query(handle, `where status = '${status}' and ${isAsked} and ended_at >= ?`, [
          ...asked,
          endedAfter,
        ]),
      ),
    ]),
  );
  const signers = new Set(bySigner.map(row => row.signed_address));
  const due = new Set(byAmount.map(row => row.amount_due));
  return transfers.filter(({ sender, amount }) => signers.has(sender) || due.has(uintColumn(amount)));
}
