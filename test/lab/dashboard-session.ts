import type { PaymentsListener } from '../../src/payments/listener.ts';
import { record, text } from './json.ts';

type Service = Pick<PaymentsListener, 'url' | 'dashboardUrl'>;
/** Role of a member of the demo. */
export type DemoRole = 'owner' | 'developer' | 'support' | 'read_only';

/** Session of the demo's owner: headers of its requests, and the id of its member. */
interface OwnerSession {
  readonly headers: Readonly<Record<string, string>>;
  readonly memberId: string;
}

const owners = new Map<string, Promise<OwnerSession>>();

/**
 * Token of a new one-time address of the demo's dashboard, for its owner or for a new member with another role. The
 * service has no mail server.
 */
export async function demoSignIn(service: Service, role: DemoRole = 'owner'): Promise<string> {
  const { headers, memberId } = await ownerOf(service);
  const members = `${service.url}/dashboard/members`;
  const path = role === 'owner' ? `${members}/${memberId}/sign-in-address` : members;
  const person = { name: `Member with ${role}`, email: `${crypto.randomUUID()}@shop.example`, role };
  const body = role === 'owner' ? undefined : JSON.stringify(person);
  const { sign_in_url: url } = await posted(path, { headers, body });
  return tokenOf(text(url));
}

/** Token in the fragment of a one-time address. */
export function tokenOf(address: string): string {
  return new URL(address).hash.replace('#token=', '');
}

function ownerOf({ url, dashboardUrl }: Service): Promise<OwnerSession> {
  const known = owners.get(text(dashboardUrl));
  if (known !== undefined) return known;
  const session = opened(url, tokenOf(text(dashboardUrl)));
  owners.set(text(dashboardUrl), session);
  return session;
}

async function opened(url: string, token: string): Promise<OwnerSession> {
  const answer = await fetch(`${url}/dashboard/session`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  const body = record(await answer.json());
  if (answer.status !== 201) throw new Error(`no session: ${JSON.stringify(body)}`);
  return {
    headers: {
      Cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '',
      'X-CSRF-Token': text(body.csrf_token),
    },
    memberId: text(record(body.member).id),
  };
}

async function posted(
  url: string,
  { headers, body }: { headers: Readonly<Record<string, string>>; body: string | undefined },
): Promise<Record<string, unknown>> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body }),
  });
  const answered = record(await answer.json());
  if (answer.status >= 400) throw new Error(`${url}: ${JSON.stringify(answered)}`);
  return answered;
}
