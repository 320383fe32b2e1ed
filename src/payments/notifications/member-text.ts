import type { MemberChange, NoticePayload } from '../model/notification.ts';
import { type Content, dashboardPage, given, type Merchant, type TextContext, titled } from './content.ts';

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

/** Content about a passkey that was added or removed, for its member (Decision 417). */
export function passkeyContent(
  { change, name, changedAt }: Extract<NoticePayload, { kind: 'passkey_changed' }>,
  merchant: Merchant,
  context: TextContext,
): Content {
  return {
    title: titled(`Passkey ${change}`, merchant),
    facts: [
      ['Merchant', merchant.name],
      ['Passkey', name],
      ['Changed at', new Date(changedAt).toISOString()],
    ],
    closing:
      'A passkey signs you in to the dashboard. If you did not do this, remove passkeys that you do not know on the page Your account, and sign out all your sessions. An owner, or the operator of the server, can send you a new sign-in link.',
    link: dashboardPage(context, 'account'),
    linkText: 'Open Your account in the dashboard',
  };
}

/** Content about a new key that can decide where money goes, for an owner (Decision 417). */
export function keyContent(
  { key, createdAt }: Extract<NoticePayload, { kind: 'key_created' }>,
  merchant: Merchant,
  context: TextContext,
): Content {
  return {
    title: titled(`API key created: ${key.name}`, merchant),
    facts: [
      ['Merchant', merchant.name],
      ['API key', key.name],
      ['Permission', key.permission],
      ['Created by', key.by],
      ['Created at', new Date(createdAt).toISOString()],
    ],
    closing:
      'A program with this key can decide where payments go. If you do not recognise it, revoke it and every key that you do not know, and sign out all sessions on the page People.',
    link: dashboardPage(context, 'keys'),
    linkText: 'Open API keys in the dashboard',
  };
}
