import { uintColumn } from '../../db/columns.ts';
import type { Handle } from '../../db/open.ts';
import { rowsOf } from '../../db/query.ts';
import type { DepositAddress } from '../model/deposit-address.ts';
import type { Owner } from '../model/owner.ts';
import type { SessionRow } from './session-rows.ts';

/** The condition that a row is of one place, with `bindingsOf` it. */
export const OF_PLACE = 'chain_id = ? and token_address = ? and recipient_address = ?';
const OF_OWNER = 'organization_id = ? and mode = ?';

/** The sessions of a place that this payer may be paying: active, or ended at that time or later; the oldest first. */
export function byPayer(
  handle: Handle,
  place: DepositAddress,
  payer: string,
  endedAfter: number,
): Promise<SessionRow[]> {
  return rowsOf(
    handle,
    `select * from checkout_sessions
     where ${OF_PLACE} and payer_address = ? and (ended_at is null or ended_at >= ?)
     order by created_at, id`,
    [...bindingsOf(place), payer, endedAfter],
  );
}

/**
 * Sessions of an organization at a place that ask for exactly this: the active one, if any, then two of those that expired at that
 * time or later, which tells one from several.
 */
export async function byAmount(
  handle: Handle,
  place: DepositAddress & Owner,
  amount: bigint,
  endedAfter: number,
): Promise<SessionRow[]> {
  const asked = [...bindingsOf(place), place.organizationId, place.mode, uintColumn(amount)];
  const active = await rowsOf<SessionRow>(
    handle,
    `select * from checkout_sessions where status = 'active' and not is_wallet_only and ${OF_PLACE} and ${OF_OWNER} and amount_due = ?`,
    asked,
  );
  const expired = await rowsOf<SessionRow>(
    handle,
    `select * from checkout_sessions
     where status = 'expired' and not is_wallet_only and ${OF_PLACE} and ${OF_OWNER} and amount_due = ? and ended_at >= ?
     order by ended_at desc limit 2`,
    [...asked, endedAfter],
  );
  return [...active, ...expired];
}

export function bindingsOf(
  place: DepositAddress,
): [chainId: number, tokenAddress: string, recipientAddress: string] {
  return [place.chainId, place.tokenAddress, place.recipientAddress];
}
