import { type DatabaseOptions, openDatabase } from '../../src/db/open.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { issueKey, type KeyDraft } from '../../src/payments/keys/issue-key.ts';
import type { Tier } from '../../src/payments/model/owner.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { SHOP, unreachableChain } from './payments-service.ts';

/** Makes organizations and keys beside a running service, as the command line does. */
export interface TestOwners {
  /**
   * The secret of a new test key of an organization of its own, whose links take the coin and pay `SHOP`; it may do
   * everything, and the tier is the elevated one, unless said otherwise.
   */
  key(draft: Partial<Omit<KeyDraft, 'organizationId'>> & { tier?: Tier }): Promise<string>;
  close(): Promise<void>;
}

/** On the database of a service that has started, which brought it up to date. */
export function openOwners(database: DatabaseOptions, clock: Clock): TestOwners {
  const db = openDatabase(database);
  return {
    close: () => db.destroy(),
    async key({ tier = 'elevated', ...draft }) {
      const id = newId('org');
      const defaults = { chainId: unreachableChain.id, tokenAddress: NATIVE_COIN, recipientAddress: SHOP };
      await organizationStore(db).insert({ id, name: id, tier, defaults, createdAt: clock.now() });
      const whole = { mode: 'test', name: 'Key', permission: 'admin', expiresAt: null } as const;
      return (await issueKey(db, { ...whole, ...draft, organizationId: id }, clock.now())).secret;
    },
  };
}
