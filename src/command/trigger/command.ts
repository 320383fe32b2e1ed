import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { readArguments, UsageError } from '#lib/command-line.ts';
import { modeOfKey } from '#payments/keys/api-key.ts';
import { API_OPTIONS, placeOf, type ServerPlace } from '../api/server-place.ts';

export const USAGE = `Usage: tollgate trigger EVENT --key KEY [options]

Makes a test event: payment.completed, payment.failed, checkout.completed, checkout.expired or test.ping.

Without --to, a session of test money is opened and paid, failed or ended, so that the event goes the whole way: it is
listed, and goes to every webhook that subscribed to it and to notifications. Needs a test key that may write.
With --to, the one webhook gets made-up data, which is listed nowhere but among its deliveries. Needs an admin key.

  --key KEY            an API key
  --to WEBHOOK         the id of the one webhook to send to; test.ping needs it
  --link LINK          the id of the payment link to pay; when absent, one by the name “Triggered” is made from the
                       organization's defaults, and taken again the next time
  --amount UNITS       what is paid, in the token's smallest unit, where the link leaves it to the payer
  --url ADDRESS        where the server is; http://127.0.0.1:3001 when absent
  --help               print this

Prints the events with their ids, or with --to the delivery and the receiver's status.
Exits with 2 when the command is not understood, and with 1 when the server or the receiver refuses.
`;

export type EventType = PaymentsSchemas['EventType'];

/** What is to happen. `url` has no slash at the end. */
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
 * Reads the arguments; undefined when they ask for help. Rules of the API are left to the API.
 * @throws UsageError
 */
export function readCommand(args: readonly string[]): Command | undefined {
  const { values, positionals } = readArguments(args, { allowPositionals: true, options: OPTIONS });
  if (values.help === true) return undefined;
  const [said, ...more] = positionals;
  const type = [...EVENT_TYPES, 'test.ping' as const].find(one => one === said);
  if (type === undefined || more.length > 0)
    throw new UsageError(`say one of ${EVENT_TYPES.join(', ')}, test.ping`);
  const { to, link, amount } = values;
  const place = placeOf(values);
  if (to !== undefined) {
    if (link !== undefined || amount !== undefined)
      throw new UsageError('with --to nothing is paid: leave the rest out');
    return { kind: 'test', ...place, type, webhookId: to };
  }
  if (type === 'test.ping') throw new UsageError('test.ping goes to one webhook: name it by --to');
  // The session would be opened, and then nothing could be simulated.
  if (modeOfKey(place.key) === 'live')
    throw new UsageError('only test money can be triggered: take a test key');
  return {
    kind: 'session',
    ...place,
    type,
    ...(link === undefined ? {} : { link }),
    ...(amount === undefined ? {} : { amount }),
  };
}
