import { type DatabaseOptions, openDatabase } from '../../src/db/open.ts';
import type { Clock } from '../../src/lib/clock.ts';
import { newId } from '../../src/lib/ids.ts';
import { issueKey, type KeyDraft } from '../../src/payments/keys/issue-key.ts';
import type { Tier } from '../../src/payments/model/owner.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { organizationStore } from '../../src/payments/store/organization-store.ts';
import { SHOP, unreachableChain } from '../lab/payments-service.ts';

/** Creates organizations and keys in the database of a running service, like the command line. */
export interface TestOwners {
  /**
   * Creates an organization with an admin key in test mode and returns the key's secret. Its links accept the coin and
   * pay `SHOP`. The tier is elevated by default.
   */
  key(draft: Partial<Omit<KeyDraft, 'organizationId'>> & { tier?: Tier }): Promise<string>;
  close(): Promise<void>;
}

/** Opens the database of a started service, which has migrated it. */
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
