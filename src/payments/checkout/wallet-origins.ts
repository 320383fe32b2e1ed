import type { CheckoutSession } from '../model/session.ts';
import { organizationSettingsStore } from '../store/organization-settings-store.ts';
import { publicOrigin } from './bodies.ts';
import type { CheckoutDeps, PayerRequest } from './deps.ts';

/**
 * Origins that the wallet message of a request may name, the preferred one first: that of the request when the
 * session's organization lists it, and that of the pay page. Decision 156.
 */
export async function walletOrigins(
  deps: Pick<CheckoutDeps, 'db' | 'publicUrl' | 'chains'>,
  session: CheckoutSession,
  { origin }: Pick<PayerRequest, 'origin'>,
): Promise<readonly [string, ...string[]]> {
  const ours = publicOrigin(deps);
  if (origin === undefined || origin === ours) return [ours];
  const { origins } = await organizationSettingsStore(deps.db).find(session);
  return origins.includes(origin) ? [origin, ours] : [ours];
}
