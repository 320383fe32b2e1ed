import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { readArguments, UsageError } from '#lib/command-line.ts';
import { modeOfKey } from '#payments/keys/api-key.ts';
import { API_OPTIONS, placeOf, type ServerPlace } from '../api/server-place.ts';

export const USAGE = `Usage: tollgate trigger EVENT [options]

Triggers a test event: payment.completed, payment.failed, checkout.completed, checkout.expired or test.ping.
Set TOLLGATE_KEY to an API key.

Without --to, a checkout session in test mode is opened and then completed, failed or expired. The event is listed, and
goes to every subscribed webhook and to notifications like any other. Needs a test key with write permission.
With --to, only this webhook receives an event with made-up data, which is listed only among the webhook's deliveries.
Needs an admin key.

  --to WEBHOOK         the id of the only webhook to send to; required for test.ping
  --link LINK          the id of the payment link to pay; when absent, a link named “Triggered” is created from the
                       organization's defaults and reused by later runs
  --amount UNITS       the amount in the token's smallest unit, for a link that lets the payer choose it
  --url ADDRESS        the server; http://127.0.0.1:3001 when absent
  --key KEY            the API key in place of TOLLGATE_KEY, visible to every user of this machine
  --help               print this

Prints the events with their ids, or with --to the delivery and the status of the receiver.
Exits with 2 when the command is not understood, and with 1 when the server or the receiver refuses.
`;

export type EventType = PaymentsSchemas['EventType'];

/** A parsed command. `url` has no trailing slash. */
export type Command = ServerPlace &
  (
    | { readonly kind: 'session'; readonly type: EventType; readonly link?: string; readonly amount?: string }
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
export function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = readArguments(args, { allowPositionals: true, options: OPTIONS });
  if (values.help === true) return undefined;
  const [said, ...more] = positionals;
  const type = [...EVENT_TYPES, 'test.ping' as const].find(one => one === said);
  if (type === undefined || more.length > 0)
    throw new UsageError(`name one event of ${EVENT_TYPES.join(', ')}, test.ping`);
  const { to, link, amount } = values;
  const place = placeOf(values);
  if (to !== undefined) {
    if (link !== undefined || amount !== undefined)
      throw new UsageError('--link and --amount cannot be used with --to, which pays nothing');
    return { kind: 'test', ...place, type, webhookId: to };
  }
  if (type === 'test.ping') throw new UsageError('test.ping goes to one webhook: name it with --to');
  // With a live key the session would open, but its payment could not be simulated.
  if (modeOfKey(place.key) === 'live')
    throw new UsageError('events can only be triggered in test mode: use a test key');
  return {
    kind: 'session',
    ...place,
    type,
    ...(link === undefined ? {} : { link }),
    ...(amount === undefined ? {} : { amount }),
  };
}
