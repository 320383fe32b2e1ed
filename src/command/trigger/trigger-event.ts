import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { Refused } from '#lib/command-line.ts';
import type { ApiClient, ApiRequest } from '../api/client.ts';
import type { Command, EventType } from './command.ts';

type Session = PaymentsSchemas['CheckoutSession'];
type Link = PaymentsSchemas['PaymentLink'];

const LINK_NAME = 'Triggered';
const AMOUNT = '1000000';
const OUTCOMES = {
  'payment.completed': 'completed',
  'checkout.completed': 'completed',
  'payment.failed': 'failed',
} as const satisfies Partial<Record<EventType, PaymentsSchemas['SimulationRequest']['outcome']>>;

/** Triggers the event, and returns a line for each event or delivery. @throws Refused */
export async function happen(client: ApiClient, command: Command): Promise<string[]> {
  return command.kind === 'test' ? [await sendTest(client, command)] : throughSession(client, command);
}

async function sendTest(
  client: ApiClient,
  { type, webhookId }: Extract<Command, { kind: 'test' }>,
): Promise<string> {
  const { data } = await done<PaymentsSchemas['WebhookTestAnswer']>(client, {
    method: 'POST',
    path: `/api/v1/webhooks/${encodeURIComponent(webhookId)}/test`,
    body: { event: type },
  });
  const line = [data.delivery_id, type, data.response_code ?? 'no answer'].join('  ');
  if (!data.success) throw new Refused(`The receiver did not take it: ${line}`);
  return line;
}

async function throughSession(
  client: ApiClient,
  { type, link, amount }: Extract<Command, { kind: 'session' }>,
): Promise<string[]> {
  const linkId = link ?? (await ownLink(client));
  const asked = amount ?? (link === undefined ? AMOUNT : undefined);
  const session = await done<Session>(client, {
    method: 'POST',
    path: '/api/v1/checkout-sessions',
    body: { payment_link_id: linkId, ...(asked === undefined ? {} : { amount: asked }) },
  });
  const ending =
    type === 'checkout.expired'
      ? { path: `/api/v1/checkout-sessions/${session.id}/expire` }
      : { path: `/api/v1/test/sessions/${session.id}/simulate`, body: { outcome: OUTCOMES[type] } };
  await done<Session>(client, { method: 'POST', ...ending });
  const { data } = await done<PaymentsSchemas['EventList']>(client, { path: '/api/v1/events?limit=100' });
  const made = data.filter(event => event.data.checkoutSession.id === session.id).reverse();
  return made.map(({ id, event }) => `${id}  ${event}  ${session.id}`);
}

/** Id of the link that an earlier run created, or of a new one. */
async function ownLink(client: ApiClient): Promise<string> {
  const path = '/api/v1/payment-links';
  const { data } = await done<PaymentsSchemas['PaymentLinkList']>(client, {
    path: `${path}?search=${LINK_NAME}&active=true&limit=100`,
  });
  const known = data.find(({ name, availability }) => name === LINK_NAME && availability === 'active');
  if (known !== undefined) return known.id;
  const made = await done<Link>(client, { method: 'POST', path, body: { name: LINK_NAME } });
  return made.id;
}

/** Sends a request and returns the body. @throws Refused for anything but a success */
async function done<Body>(client: ApiClient, request: ApiRequest): Promise<Body> {
  const reply = await client.ask<Body>(request);
  if (reply.kind === 'done') return reply.body;
  throw new Refused(reply.kind === 'unchanged' ? 'The server answered with status 304.' : reply.message);
}
