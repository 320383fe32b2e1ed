import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { Refused, readArguments, UsageError } from '#lib/command-line.ts';
import { modeOfKey } from '#payments/keys/api-key.ts';
import {
  API_OPTIONS,
  type ApiClient,
  type ApiServer,
  apiClient,
  apiServerOf,
  done,
  URL_HELP,
} from './client.ts';

/**
 * Triggers a test event on a running payments server, through its API.
 * @throws UsageError, or Refused when the server or the receiver refuses
 */
export async function runTrigger(args: readonly string[]): Promise<void> {
  const command = readTriggerCommand(args);
  if (command === undefined) process.stdout.write(USAGE);
  else for (const line of await happen(apiClient(command), command)) process.stdout.write(`${line}\n`);
}

type Session = PaymentsSchemas['CheckoutSession'];
type Link = PaymentsSchemas['PaymentLink'];

const LINK_NAME = 'Triggered';
const AMOUNT = '1000000';
const OUTCOMES = {
  'payment.completed': 'completed',
  'checkout.completed': 'completed',
  'payment.failed': 'failed',
} as const satisfies Partial<Record<SessionEventType, PaymentsSchemas['SimulationRequest']['outcome']>>;

/** Triggers the event, and returns a line for each event or delivery. @throws Refused */
async function happen(client: ApiClient, command: Command): Promise<string[]> {
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
  const made = data.filter(event => event.data.checkoutSession?.id === session.id).reverse();
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

const USAGE = `Usage: tollgate trigger EVENT [options]

Triggers a test event: payment.completed, payment.failed, checkout.completed or checkout.expired, and with --to also
refund.created, refund.completed, refund.failed, transfer.unmatched, checkout.paid_late, checkout.overpaid,
checkout.partially_paid, sweep.completed or test.ping.
Set TOLLGATE_KEY to an API key.

Without --to, a checkout session in test mode is opened and then completed, failed or expired. The event is listed, and
goes to every subscribed webhook and to notifications like any other. Needs a test key with write permission.
With --to, only this webhook receives an event with made-up data, which is listed only among the webhook's deliveries.
Needs an admin key.

  --to WEBHOOK         the id of the only webhook to send to; required for events of refunds and test.ping
  --link LINK          the id of the payment link to pay; when absent, a link named “Triggered” is created from the
                       organization's defaults and reused by later runs
  --amount UNITS       the amount in the token's smallest unit, for a link that lets the payer choose it
  --url ADDRESS        ${URL_HELP}
  --key KEY            the API key in place of TOLLGATE_KEY, visible to every user of this machine
  --help               print this

Prints the events with their ids, or with --to the delivery and the status of the receiver.
Exits with 2 when the command is not understood, and with 1 when the server or the receiver refuses.
`;

type SessionEventType = (typeof EVENT_TYPES)[number];

/** A parsed command. `url` has no trailing slash. */
type Command = ApiServer &
  (
    | {
        readonly kind: 'session';
        readonly type: SessionEventType;
        readonly link?: string;
        readonly amount?: string;
      }
    | {
        readonly kind: 'test';
        readonly type: PaymentsSchemas['DeliveryEventType'];
        readonly webhookId: string;
      }
  );

const EVENT_TYPES = [
  'payment.completed',
  'payment.failed',
  'checkout.completed',
  'checkout.expired',
] as const;
/** Types that only a webhook can be sent, with made-up data. */
const TEST_TYPES = [
  'refund.created',
  'refund.completed',
  'refund.failed',
  'transfer.unmatched',
  'checkout.paid_late',
  'checkout.overpaid',
  'checkout.partially_paid',
  'sweep.completed',
  'test.ping',
] as const;

const OPTIONS = {
  ...API_OPTIONS,
  to: { type: 'string' },
  link: { type: 'string' },
  amount: { type: 'string' },
} as const;

/**
 * Reads the arguments; undefined when they request help. The API itself checks the rules of the API.
 * @throws UsageError
 */
export function readTriggerCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = readArguments(args, { allowPositionals: true, options: OPTIONS });
  if (values.help === true) return undefined;
  const [said, ...more] = positionals;
  const type = [...EVENT_TYPES, ...TEST_TYPES].find(one => one === said);
  if (type === undefined || more.length > 0)
    throw new UsageError(`name one event of ${[...EVENT_TYPES, ...TEST_TYPES].join(', ')}`);
  const { to, link, amount } = values;
  const server = apiServerOf(values);
  if (to !== undefined) {
    if (link !== undefined || amount !== undefined)
      throw new UsageError('--link and --amount cannot be used with --to, which pays nothing');
    return { kind: 'test', ...server, type, webhookId: to };
  }
  const ofSession = EVENT_TYPES.find(one => one === type);
  if (ofSession === undefined) throw new UsageError(`${type} goes to one webhook: name it with --to`);
  // With a live key the session would open, but its payment could not be simulated.
  if (modeOfKey(server.key) === 'live')
    throw new UsageError('events can only be triggered in test mode: use a test key');
  return {
    kind: 'session',
    ...server,
    type: ofSession,
    ...(link === undefined ? {} : { link }),
    ...(amount === undefined ? {} : { amount }),
  };
}
