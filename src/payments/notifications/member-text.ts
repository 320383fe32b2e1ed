import type { NoticePayload } from '../model/notification.ts';
import { type Content, given, type Merchant } from './content.ts';

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
