import type { NoticePayload, RecipientChange } from '../model/notification.ts';
import {
  addressText,
  type Content,
  dashboardPage,
  type Fact,
  given,
  type Merchant,
  type TextContext,
  titled,
} from './content.ts';

const TITLES: Readonly<Record<RecipientChange['kind'], string>> = {
  added: 'Recipient added',
  removed: 'Recipient removed',
  locked: 'List of recipients locked',
  unlocked: 'List of recipients unlocked',
  default: 'Default recipient changed',
  email_address: 'Notifications go to another address',
};

/** Content about a change of where payments can go, for the merchant (Decision 138). */
export function recipientsContent(
  { change, changedAt }: Extract<NoticePayload, { kind: 'recipients_changed' }>,
  merchant: Merchant,
  context: TextContext,
): Content {
  return {
    title: titled(TITLES[change.kind], merchant),
    facts: given([
      ['Merchant', merchant.name],
      ...factsOf(change, context),
      ['Changed at', new Date(changedAt).toISOString()],
    ]),
    closing:
      'An API key or a person with access to the dashboard made this change. If you do not recognise it, revoke the API keys, check the list of recipients and your payment links, and lock the list. Payments that were sent to another address cannot be called back.',
    link: dashboardPage(context, 'organization'),
    linkText: 'Open the settings in the dashboard',
  };
}

function factsOf(change: RecipientChange, { chains }: TextContext): Fact[] {
  if (change.kind === 'email_address') return [['New address', change.to ?? 'none']];
  if (change.kind === 'default') return [['New default', addressText(change.to) ?? 'none']];
  if (!('address' in change)) return [];
  const chain = chains.all.find(({ id }) => id === change.chainId);
  return [
    ['Chain', chain === undefined ? String(change.chainId) : `${chain.name} (${chain.id})`],
    ['Address', addressText(change.address)],
  ];
}
