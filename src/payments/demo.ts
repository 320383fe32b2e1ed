import type { Db } from '../db/open.ts';
import { transaction } from '../db/transaction.ts';
import { newId } from '../lib/ids.ts';
import { issueKey } from './keys/issue-key.ts';
import type { LinkDefaults, Organization } from './model/owner.ts';
import { organizationStore } from './store/organization-store.ts';

const NAME = 'Demo shop';
const KEY_NAME = 'Key of the demo';

/**
 * Makes sure that there is an organization to try things out with, and gives it one more test key that may do everything.
 * Answers with the key, which is kept nowhere.
 */
export function createDemo(
  db: Db,
  { defaults, now }: { defaults: LinkDefaults; now: number },
): Promise<string> {
  return transaction(db, async handle => {
    const organizations = organizationStore(handle);
    const known = await organizations.findByName(NAME);
    const shop: Organization = known ?? {
      id: newId('org'),
      name: NAME,
      tier: 'elevated',
      defaults,
      createdAt: now,
    };
    if (known === undefined) await organizations.insert(shop);
    const draft = { organizationId: shop.id, mode: 'test', name: KEY_NAME, permission: 'admin' } as const;
    const { secret } = await issueKey(handle, { ...draft, expiresAt: null }, now);
    return secret;
  });
}
