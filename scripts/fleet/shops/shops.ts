import type { ApiClient } from '#command/api/client.ts';
import type { PaymentsSchemas } from '../../../src/contract/contracts/payments.ts';
import { migrate } from '../../../src/db/migrate.ts';
import { type DatabaseOptions, openDatabase } from '../../../src/db/open.ts';
import { transaction } from '../../../src/db/transaction.ts';
import { newId } from '../../../src/lib/ids.ts';
import { issueKey } from '../../../src/payments/keys/issue-key.ts';
import { PAYMENTS_MIGRATIONS } from '../../../src/payments/store/migrations/payments-migrations.ts';
import { organizationStore } from '../../../src/payments/store/organization-store.ts';
import { demand } from './demand.ts';
import { RECEIVER_KINDS, type ReceiverKind } from './receiver-kinds.ts';

/** A webhook of a shop. */
export interface Hook {
  readonly id: string;
  readonly secret: string;
  readonly kind: ReceiverKind;
  /** Path of its receiver. */
  readonly path: string;
  readonly isSubscribed: (type: string) => boolean;
}

/** An organization with its webhooks. */
export interface Shop {
  readonly key: string;
  readonly client: ApiClient;
  readonly hooks: readonly Hook[];
  /** Address that receives the payments. */
  readonly recipient: string;
  /** Ids of the sessions that it has opened. */
  readonly sessions: Set<string>;
}

/** Creates organizations in a database, and returns one API key for each. */
export async function createOrganizations(options: DatabaseOptions, count: number): Promise<string[]> {
  const db = openDatabase(options);
  try {
    await migrate(db, PAYMENTS_MIGRATIONS);
    return await transaction(db, async handle => {
      const keys: string[] = [];
      for (let index = 0; index < count; index++) {
        const id = newId('org');
        const createdAt = Date.now();
        const defaults = { chainId: null, tokenAddress: null, recipientAddress: null };
        await organizationStore(handle).insert({
          id,
          name: `Shop ${index}`,
          tier: 'standard',
          defaults,
          createdAt,
        });
        const draft = {
          organizationId: id,
          mode: 'test',
          name: 'Soak',
          permission: 'admin',
          expiresAt: null,
        } as const;
        keys.push((await issueKey(handle, draft, createdAt)).secret);
      }
      return keys;
    });
  } finally {
    await db.destroy();
  }
}

interface Opening {
  /** Client that uses the key. */
  readonly client: ApiClient;
  readonly key: string;
  readonly index: number;
  /** Kinds of its receivers: all of them when absent. */
  readonly kinds?: readonly ReceiverKind[];
}

/** Gives the key's organization a webhook for all events at each kind of receiver, and one for payments only. */
export async function openShop(
  { client, key, index, kinds = RECEIVER_KINDS }: Opening,
  receivers: string,
): Promise<Shop> {
  const hooks: Hook[] = [];
  const wanted = kinds.map(kind => ({ kind, subscription: '*' as const }));
  for (const { kind, subscription } of [
    ...wanted,
    { kind: 'steady', subscription: 'payment.completed' } as const,
  ]) {
    const path = `/${index}/${kind}/${subscription === '*' ? 'all' : subscription}`;
    const { data } = await demand<PaymentsSchemas['WebhookSecretAnswer']>(client, {
      method: 'POST',
      path: '/api/v1/webhooks',
      body: { url: receivers + path, events: [subscription] },
    });
    const isSubscribed = (type: string) => subscription === '*' || subscription === type;
    hooks.push({ id: data.id, secret: data.secret, kind, path, isSubscribed });
  }
  const recipient = `0x${'5e'.repeat(19)}${index.toString(16).padStart(2, '0')}`;
  return { key, client, hooks, recipient, sessions: new Set() };
}
