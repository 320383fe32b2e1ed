import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { InvalidBody } from '#contract/contracts/violations.ts';
import { timestamp } from '#lib/clock.ts';
import { nameImages } from '../../images/image-names.ts';
import type { RecipientChange } from '../../model/notification.ts';
import type { LinkDefaults, Mode, OrganizationProfile } from '../../model/owner.ts';
import {
  isReserved,
  normalToken,
  type PaymentChains,
  RESERVED_RULE,
  tokenOf,
} from '../../model/payment-chain.ts';
import { percentOf } from '../../model/session.ts';
import { noteRecipientChange } from '../../notifications/store/recipient-notices.ts';
import {
  type OrganizationSettings,
  organizationSettingsStore,
  organizationStore,
} from '../../store/organization-store.ts';
import type { ApiHandlers, PaymentsContext } from '../gate/api-context.ts';
import { checkOwner } from '../gate/owner-only.ts';
import { toleranceBpsOf } from '../links/link-fields.ts';
import { checkUnchanged } from '../responses/precondition.ts';

type Changes = PaymentsSchemas['OrganizationChanges'];

/** Operations on the key's organization and the settings of its mode (Decisions 135 and 220). */
export function organizationHandlers({
  db,
  seals,
  clock,
  chains,
}: Pick<PaymentsContext, 'db' | 'seals' | 'clock' | 'chains'>) {
  return {
    getOrganization: async (_, caller) => ({
      status: 200,
      body: organizationBody(
        await organizationStore(db).profile(caller),
        await organizationSettingsStore(db).find(caller),
      ),
    }),

    updateOrganization: ({ body }, caller) =>
      caller.commit(async handle => {
        const store = organizationSettingsStore(handle);
        const before = await store.find(caller);
        const profileBefore = await organizationStore(handle).profile(caller);
        checkUnchanged(caller, () => organizationBody(profileBefore, before));
        const settings = changed(before, body, clock.now());
        checkOrigins(settings.origins);
        const changes = recipientChanges(before, settings);
        if (changes.length > 0) checkOwner(caller);
        for (const change of changes)
          await noteRecipientChange({ handle, seals, now: settings.updatedAt }, caller, change);
        await nameImages(
          handle,
          { ...settings, addresses: [['logo_url', settings.logoUrl]] },
          settings.updatedAt,
        );
        await store.save(settings);
        const profile = await organizationStore(handle).profile(caller);
        checkDefaults(profile.defaults, { chains, mode: caller.mode }, field => Object.hasOwn(body, field));
        return { status: 200, body: organizationBody(profile, settings) };
      }),
  } satisfies ApiHandlers;
}

/** Changes that decide where money goes (Decision 413). */
function recipientChanges(before: OrganizationSettings, after: OrganizationSettings): RecipientChange[] {
  const { recipientsLocked, defaults } = after;
  const changes: RecipientChange[] = [];
  if (recipientsLocked !== before.recipientsLocked)
    changes.push({ kind: recipientsLocked ? 'locked' : 'unlocked' });
  if (defaults.recipientAddress !== before.defaults.recipientAddress)
    changes.push({ kind: 'default', to: defaults.recipientAddress });
  return changes;
}

/** Settings after a change. Null clears a field. */
function changed(before: OrganizationSettings, body: Changes, now: number): OrganizationSettings {
  return {
    ...before,
    name: body.name === undefined ? before.name : (body.name?.trim() ?? null),
    logoUrl: body.logo_url === undefined ? before.logoUrl : body.logo_url,
    contactEmail: body.contact_email === undefined ? before.contactEmail : body.contact_email,
    siteUrl: body.site_url === undefined ? before.siteUrl : body.site_url,
    termsUrl: body.terms_url === undefined ? before.termsUrl : body.terms_url,
    defaults: changedDefaults(before.defaults, body),
    toleranceBps: toleranceBpsOf(body.payment_tolerance) ?? before.toleranceBps,
    origins: [...new Set(body.origins ?? before.origins)],
    recipientsLocked: body.recipients_locked ?? before.recipientsLocked,
    updatedAt: now,
  };
}

function changedDefaults(before: LinkDefaults, body: Changes): LinkDefaults {
  const {
    default_chain_id: chainId = before.chainId,
    default_token_address: token = before.tokenAddress,
    default_recipient_address: recipient = before.recipientAddress,
  } = body;
  return {
    chainId,
    tokenAddress: token === null ? null : normalToken(token),
    recipientAddress: recipient?.toLowerCase() ?? null,
  };
}

/** Checks that each origin is written as browsers send it, because it is compared as text. @throws InvalidBody */
function checkOrigins(origins: readonly string[]): void {
  for (const [index, text] of origins.entries()) {
    const origin = URL.canParse(text) ? new URL(text).origin : undefined;
    if (origin === text) continue;
    const hint = origin === undefined ? '' : `, here ${origin}`;
    throw new InvalidBody(`origins.${index}`, `must be an origin exactly as browsers send it${hint}`);
  }
}

function organizationBody(
  { id, name, logoUrl, defaults, createdAt }: OrganizationProfile,
  settings: OrganizationSettings,
): PaymentsSchemas['Organization'] {
  return {
    object: 'organization',
    id,
    name,
    logo_url: logoUrl,
    contact_email: settings.contactEmail,
    site_url: settings.siteUrl,
    terms_url: settings.termsUrl,
    mode: settings.mode,
    default_chain_id: defaults.chainId,
    default_token_address: defaults.tokenAddress,
    default_recipient_address: defaults.recipientAddress,
    payment_tolerance: percentOf(settings.toleranceBps),
    recipients_locked: settings.recipientsLocked,
    origins: [...settings.origins],
    created_at: timestamp(createdAt),
    updated_at: timestamp(settings.updatedAt),
  };
}

/**
 * Checks those defaults that a change names. A default entered by the operator may be of the other mode. It is checked
 * when a link uses it.
 * @throws InvalidBody naming a field of the request (Decision 220)
 */
function checkDefaults(
  { chainId, tokenAddress, recipientAddress }: LinkDefaults,
  { chains, mode }: { chains: PaymentChains; mode: Mode },
  isGiven: (field: string) => boolean,
): void {
  const chain = chainId === null ? undefined : chains.find(mode, chainId);
  if (isGiven('default_chain_id') && chainId !== null && chain === undefined) {
    throw new InvalidBody('default_chain_id', `must be a chain that is configured for ${mode} mode`);
  }
  const isTokenGiven = isGiven('default_token_address');
  if (chain !== undefined && tokenAddress !== null && (isTokenGiven || isGiven('default_chain_id'))) {
    if (tokenOf(chain, tokenAddress) === undefined) {
      throw new InvalidBody(
        isTokenGiven ? 'default_token_address' : 'default_chain_id',
        `must agree with the tokens that are configured for chain ${chain.id}`,
      );
    }
  }
  const isRecipientGiven = isGiven('default_recipient_address');
  if (recipientAddress === null || !(isRecipientGiven || isTokenGiven)) return;
  const recipient = normalToken(recipientAddress);
  if (isReserved(recipient)) throw new InvalidBody('default_recipient_address', RESERVED_RULE);
  if (recipient !== tokenAddress) {
    if (chain === undefined || tokenOf(chain, recipient) === undefined) return;
    const rule = 'must not be the contract of a token, because payments to it are lost';
    throw new InvalidBody('default_recipient_address', rule);
  }
  throw isRecipientGiven
    ? new InvalidBody('default_recipient_address', "must differ from 'default_token_address'")
    : new InvalidBody('default_token_address', "must differ from 'default_recipient_address'");
}
