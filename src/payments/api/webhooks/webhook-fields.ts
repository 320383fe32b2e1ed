import { isIP } from 'node:net';
import { InvalidBody } from '#contract/contracts/violations.ts';
import { addressJudge } from '#http/fetch/address-filter.ts';
import type { Subscription } from '../../model/webhook.ts';
import type { ReceiverRules } from '../../webhooks/sender.ts';

/** Names that only one's own network knows. Sources: RFC 6761, RFC 6762, RFC 8375, and ICANN's resolution 2024.07.29.06. */
const LOCAL_NAME = /(^|\.)(localhost|local|internal|home\.arpa)$/;

/**
 * Judges where a webhook is to be sent to, as far as its address tells: a name is judged again whenever something is sent
 * to it (Decision 120). The judge throws InvalidBody.
 */
export function receiverJudge({ allowedNetworks, allowHttp }: ReceiverRules): (text: string) => void {
  const isAllowed = addressJudge(allowedNetworks);
  return text => {
    const url = URL.parse(text);
    if (url === null)
      throw new InvalidBody('url', 'must be an absolute URL such as https://example.com/hooks');
    if (url.protocol !== 'https:' && !allowHttp) throw new InvalidBody('url', 'must be an https:// address');
    if (url.username !== '' || url.password !== '') {
      throw new InvalidBody('url', 'must not contain a user name or a password');
    }
    // Of the parsed address: it has folded every other way to write digits and dots.
    const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
    const isPublic =
      isIP(host) === 0
        ? allowedNetworks.length > 0 || (host.includes('.') && !LOCAL_NAME.test(host))
        : isAllowed(host);
    if (!isPublic) throw new InvalidBody('url', 'must be at a public host');
  };
}

/** Subscriptions without repetitions. @throws InvalidBody for `*` beside others (Decision 120) */
export function subscriptions(events: readonly Subscription[]): Subscription[] {
  const all = [...new Set(events)];
  if (all.length > 1 && all.includes('*')) {
    throw new InvalidBody('events', 'must be either * alone or a list of event types, not both');
  }
  return all;
}
