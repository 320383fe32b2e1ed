import type { Handle } from '../../db/open.ts';
import { execute } from '../../db/query.ts';
import type { DepositRules } from '../model/payment-chain.ts';
import { noteUnswept } from '../notifications/store/unswept-notices.ts';
import type { Seals } from '../secrets/sealed.ts';
import { select } from '../tables/select.ts';
import { depositSums, type HeldToken } from './deposit-sums.ts';

/**
 * True while less of a token is not swept than the limit of its chain, or without one (Decision 397). At half of the limit,
 * the merchant gets a notice, once until the sum is below it again.
 */
export async function isBelowLimit(
  { handle, seals, now }: { readonly handle: Handle; readonly seals: Seals; readonly now: number },
  token: HeldToken,
  { maxUnswept }: DepositRules,
): Promise<boolean> {
  const limit = maxUnswept?.get(token.tokenAddress);
  if (limit === undefined) return true;
  const unswept = await depositSums(handle).unsweptOf(token);
  const { organizationId, mode, chainId, tokenAddress } = token;
  const at = [organizationId, mode, chainId, tokenAddress];
  if (2n * unswept < limit) {
    await execute(
      handle,
      'delete from unswept_notices where organization_id = ? and mode = ? and chain_id = ? and token_address = ?',
      at,
    );
    return true;
  }
  const added = await select({ from: 'unswept_notices', columns: ['noticed_at'] }).changed(
    handle,
    `insert into unswept_notices (organization_id, mode, chain_id, token_address, noticed_at) values (?, ?, ?, ?, ?)
     on conflict (organization_id, mode, chain_id, token_address) do nothing`,
    [...at, now],
  );
  if (added.length > 0) await noteUnswept({ handle, seals, now }, token, { unswept, limit });
  return unswept < limit;
}
