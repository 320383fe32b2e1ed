import type { MemberChange, NoticePayload } from '../model/notification.ts';
import { type Content, dashboardPage, given, type Merchant, type TextContext } from './content.ts';

/** Content of a mail with a one-time address that signs a member in (Decisions 414 and 416). */
export function signInContent(
  { url, inviter, expiresAt }: Extract<NoticePayload, { kind: 'sign_in' }>,
  merchant: Merchant,
): Content {
  return {
    title: inviter === null ? `Sign in to ${merchant.name}` : `${inviter} invites you to ${merchant.name}`,
    facts: given([
      ['Merchant', merchant.name],
      ['Invited by', inviter],
      ['The link works until', new Date(expiresAt).toISOString()],
    ]),
    closing:
      inviter === null
        ? 'Open the link to sign in to the dashboard. It works once. If you did not ask for it, ignore this mail, and do not pass the link on.'
        : 'Open the link to sign in to the dashboard. It works once. Do not pass it on. After that, ask for a new link on the sign-in page with this e-mail address.',
    link: url,
    linkText: 'Sign in',
  };
}

const TITLES: Readonly<Record<MemberChange['kind'], string>> = {
  invited: 'Member invited',
  changed: 'Member changed',
  removed: 'Member removed',
};

/** Content about a change of who is a member, for an owner (Decision 417). */
export function membersContent(
  { change, changedAt }: Extract<NoticePayload, { kind: 'members_changed' }>,
  merchant: Merchant,
  context: TextContext,
): Content {
  return {
    title: `${TITLES[change.kind]}: ${change.name}`,
    facts: given([
      ['Merchant', merchant.name],
      ['Member', change.name],
      ['Role', change.role],
      ['Changed by', change.by],
      ['Changed at', new Date(changedAt).toISOString()],
    ]),
    closing:
      'If you do not recognise this change, remove the member and the owner who made it on the page People, and sign out all their sessions.',
    link: dashboardPage(context, 'people'),
    linkText: 'Open People in the dashboard',
  };
}
