import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { modeOfKey } from '#payments/keys/api-key.ts';
import { API_OPTIONS, argumentsOf, type Place, placeOf } from '../api/server-place.ts';

export const USAGE = `Usage: npm run -s trigger -- EVENT --key KEY [options]

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
export type Command = Place &
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

/** Reads the arguments; `fault` is a sentence. What is a rule of the API is left to the API. */
export function readCommand(argv: readonly string[]): Command | { fault: string } | { help: true } {
  const read = argumentsOf(argv, { allowPositionals: true, options: OPTIONS });
  if ('fault' in read) return read;
  const { values, positionals } = read;
  if (values.help === true) return { help: true };
  const [said, ...more] = positionals;
  const type = [...EVENT_TYPES, 'test.ping' as const].find(one => one === said);
  if (type === undefined || more.length > 0)
    return { fault: `say one of ${EVENT_TYPES.join(', ')}, test.ping` };
  const { to, link, amount } = values;
  const place = placeOf(values);
  if ('fault' in place) return place;
  if (to !== undefined) {
    if (link !== undefined || amount !== undefined)
      return { fault: 'with --to nothing is paid: leave the rest out' };
    return { kind: 'test', ...place, type, webhookId: to };
  }
  if (type === 'test.ping') return { fault: 'test.ping goes to one webhook: name it by --to' };
  // The session would be opened, and then nothing could be simulated.
  if (modeOfKey(place.key) === 'live') return { fault: 'only test money can be triggered: take a test key' };
  return {
    kind: 'session',
    ...place,
    type,
    ...(link === undefined ? {} : { link }),
    ...(amount === undefined ? {} : { amount }),
  };
}
