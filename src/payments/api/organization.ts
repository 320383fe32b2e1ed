import type { PaymentsHandlers, PaymentsSchemas } from '../../contract/contracts/payments.ts';
import { InvalidBody } from '../../contract/contracts/violations.ts';
import type { Handle } from '../../db/open.ts';
import { timestamp } from '../../lib/clock.ts';
import type { Organization, Owner } from '../model/owner.ts';
import {
  type OrganizationSettings,
  organizationSettingsStore,
  organizationStore,
} from '../store/organization-store.ts';
import type { AnonymousCaller, ApiCaller, PaymentsContext } from './gate/api-context.ts';

type Handlers = Pick<PaymentsHandlers<ApiCaller, AnonymousCaller>, 'getOrganization' | 'updateOrganization'>;

/** The organization of the key and the settings of its mode. Decision 135. */
export function organizationHandlers({ db, clock }: Pick<PaymentsContext, 'db' | 'clock'>): Handlers {
  return {
    getOrganization: async (_, caller) => ({
      status: 200,
      body: organizationBody(
        await organizationOf(db, caller),
        await organizationSettingsStore(db).find(caller),
      ),
    }),

    updateOrganization: ({ body }, caller) =>
      caller.commit(async handle => {
        const store = organizationSettingsStore(handle);
        const before = await store.find(caller);
        const origins = body.origins ?? before.origins;
        checkOrigins(origins);
        const settings: OrganizationSettings = {
          ...before,
          origins: [...new Set(origins)],
          recipientsLocked: body.recipients_locked ?? before.recipientsLocked,
          updatedAt: clock.now(),
        };
        await store.save(settings);
        return { status: 200, body: organizationBody(await organizationOf(handle, caller), settings) };
      }),
  };
}

async function organizationOf(handle: Handle, { organizationId }: Owner): Promise<Organization> {
  const organization = await organizationStore(handle).find(organizationId);
  if (organization === undefined) throw new Error(`There is no organization ${organizationId}.`);
  return organization;
}

/** An origin is compared as text with what a browser sends. @throws InvalidBody for one that no browser sends. */
function checkOrigins(origins: readonly string[]): void {
  for (const [index, text] of origins.entries()) {
    const origin = URL.canParse(text) ? new URL(text).origin : undefined;
    if (origin === text) continue;
    const hint = origin === undefined ? '' : `, here ${origin}`;
    throw new InvalidBody(`origins.${index}`, `must be an origin exactly as browsers send it${hint}`);
  }
}

function organizationBody(
  organization: Organization,
  settings: OrganizationSettings,
): PaymentsSchemas['Organization'] {
  return {
    object: 'organization',
    id: organization.id,
    name: organization.name,
    mode: settings.mode,
    recipients_locked: settings.recipientsLocked,
    origins: [...settings.origins],
    created_at: timestamp(organization.createdAt),
    updated_at: timestamp(settings.updatedAt),
  };
}
