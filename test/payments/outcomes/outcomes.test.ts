import { describe, expect } from 'vitest';
import { type Customer, customer, PRICE, type Way } from './customer.ts';
import { eachServedShop } from './served-shop.ts';

const PART = 3_000_000n;
const REST = PRICE - PART;
const EXCESS = 1_000_000n;
/** Missing from the price, less than one percent of it. */
const LITTLE = 40_000n;

type Deed = (customer: Customer) => Promise<unknown>;

/** A deed, and what API, page and dashboard show after it, and after a reorganisation drops all transfers. */
interface Step {
  readonly deed: Deed;
  readonly shown: string | Readonly<Record<Exclude<Way, 'price'>, string>>;
  readonly dropped: string;
  /** Shown once the dropped transfers are back; `shown` when absent. */
  readonly back?: string;
  /** Events of the deed, in order. */
  readonly events: readonly string[];
  /** Other events than those of payments and refunds once the dropped transfers are back; none when absent. */
  readonly backEvents?: readonly string[];
}

/** A row of the table of Decision 340. */
interface Row extends Step {
  readonly ways: readonly Way[];
  /** Tolerance in percent; none when absent. */
  readonly tolerance?: number;
  /** The ways out, by name. */
  readonly ends: Readonly<Record<string, Step>>;
}

const OPEN = 'waiting: Waiting for your payment, Open, pay';
const EXPIRED = 'expired: This checkout has expired, Expired';
const PAID = 'paid: Paid. Thank you!, Completed';
const LATE = 'paid_late: Your payment arrived late, Paid late';
const SOLD_OUT = 'sold_out: Sold out, Sold out';
const PAID_SOLD_OUT = 'paid_sold_out: Sold out before your payment arrived, Paid, sold out';
const CONFIRMING = 'confirming: Payment detected, confirming, Confirming';
const PARTIAL = 'partial: 2 USDS still to pay, Partly paid, pay';
const ENDED_PARTIAL = 'partial: 3 USDS arrived, 2 USDS is missing, Partly paid';
const TOO_MUCH = 'overpaid: Paid. 1 USDS too much, Overpaid';
const TWICE = everyWay(sum => `overpaid: Paid. ${sum} too much, Overpaid`);
const FAILED = 'failed: The payment failed, Payment failed';
const DROPPED = 'dropped: The network dropped your payment, Dropped by the chain';
const SENT = 'waiting: Your payment is on its way, Open, pay';

const EVERY = ['wallet', 'amount', 'assignment'] as const;
/** Ways of amounts other than the exact one. */
const FREE = ['wallet', 'assignment'] as const;
/** Ways without a decision of the merchant. */
const SEEN = ['wallet', 'amount'] as const;

const COMPLETED = ['payment.completed', 'checkout.completed'];
const ACCEPTED = {
  deed: one => one.accept(),
  shown: PAID,
  dropped: DROPPED,
  events: ['checkout.completed'],
} satisfies Step;
const REFUND = {
  part: {
    deed: one => one.refund(PART),
    shown: 'partial: 5 USDS still to pay, Partly paid, pay, refunded 3 USDS',
  },
  endedPart: {
    deed: one => one.refund(PART),
    shown: 'partial: 3 USDS was sent back, Partly paid, refunded, refunded 3 USDS',
  },
  excess: {
    deed: one => one.refund(EXCESS),
    shown: 'overpaid: Paid. Thank you!, Overpaid, refunded, refunded 1 USDS',
  },
  late: {
    deed: one => one.refund(one.price),
    shown: everyWay(sum => `paid_late: ${sum} was sent back, Paid late, refunded, refunded ${sum}`),
  },
  twice: {
    deed: one => one.refund(one.price),
    shown: everyWay(sum => `overpaid: Paid. Thank you!, Overpaid, refunded, refunded ${sum}`),
  },
  soldOut: {
    deed: one => one.refund(one.price),
    shown: everyWay(sum => `paid_sold_out: ${sum} was sent back, Paid, sold out, refunded, refunded ${sum}`),
  },
} satisfies Record<string, Pick<Step, 'deed' | 'shown'>>;
const REFUNDS = { dropped: DROPPED, events: ['refund.created', 'refund.completed'] };

const ROWS: Readonly<Record<string, Row>> = {
  'nothing arrived': {
    ways: SEEN,
    deed: async () => {},
    shown: OPEN,
    dropped: OPEN,
    events: [],
    ends: {
      wait: { deed: one => one.overtime(), shown: EXPIRED, dropped: EXPIRED, events: ['checkout.expired'] },
    },
  },
  'seen, not final': {
    ways: SEEN,
    deed: one => one.send(PRICE),
    shown: CONFIRMING,
    dropped: SENT,
    back: PAID,
    events: [],
    ends: { wait: { deed: one => one.wait(), shown: PAID, dropped: DROPPED, events: COMPLETED } },
  },
  'seen after the end, not final': {
    ways: SEEN,
    deed: async one => {
      await one.overtime();
      await one.send(PRICE);
    },
    shown: CONFIRMING,
    dropped: EXPIRED,
    back: LATE,
    events: ['checkout.expired'],
    ends: {
      wait: {
        deed: one => one.wait(),
        shown: LATE,
        dropped: DROPPED,
        events: ['payment.completed', 'checkout.paid_late'],
      },
    },
  },
  'less than due': {
    ways: FREE,
    deed: one => one.pay(PART),
    shown: PARTIAL,
    dropped: `${DROPPED}, pay`,
    events: ['payment.completed'],
    ends: {
      'send the rest': { deed: one => one.pay(REST), shown: PAID, dropped: DROPPED, events: COMPLETED },
      wait: {
        deed: one => one.overtime(),
        shown: ENDED_PARTIAL,
        dropped: DROPPED,
        events: ['checkout.expired', 'checkout.partially_paid'],
        // It is mined again after the end.
        backEvents: ['checkout.paid_late'],
      },
      accept: ACCEPTED,
      refund: { ...REFUNDS, ...REFUND.part, dropped: `${DROPPED}, pay` },
    },
  },
  'less than due, within the tolerance': {
    ways: FREE,
    tolerance: 1,
    deed: one => one.pay(PRICE - LITTLE),
    shown: PAID,
    dropped: DROPPED,
    events: COMPLETED,
    ends: {
      wait: { deed: one => one.overtime(), shown: PAID, dropped: DROPPED, events: [] },
      'send the rest': {
        deed: one => one.pay(LITTLE),
        shown: PAID,
        dropped: DROPPED,
        events: ['payment.completed'],
      },
    },
  },
  'in parts, within the tolerance': {
    ways: FREE,
    tolerance: 1,
    deed: one => one.pay(PART),
    shown: PARTIAL,
    dropped: `${DROPPED}, pay`,
    events: ['payment.completed'],
    ends: {
      'send less than the rest': {
        deed: one => one.pay(REST - LITTLE),
        shown: PAID,
        dropped: DROPPED,
        events: COMPLETED,
      },
    },
  },
  'less than due after the end, within the tolerance': {
    ways: FREE,
    tolerance: 1,
    deed: async one => {
      await one.overtime();
      await one.pay(PRICE - LITTLE);
    },
    shown: LATE,
    dropped: DROPPED,
    events: ['checkout.expired', 'payment.completed', 'checkout.paid_late'],
    ends: { accept: ACCEPTED },
  },
  'sold out, paid within the tolerance': {
    ways: FREE,
    tolerance: 1,
    deed: async one => {
      await one.sellOut();
      await one.pay(PRICE - LITTLE);
    },
    shown: PAID_SOLD_OUT,
    dropped: DROPPED,
    events: ['checkout.expired', 'payment.completed', 'checkout.paid_late'],
    ends: { accept: ACCEPTED },
  },
  'matched with nothing, within the tolerance': {
    ways: ['price'],
    tolerance: 1,
    deed: one => one.pay(PRICE - LITTLE),
    shown: `${OPEN}, open`,
    dropped: OPEN,
    events: ['transfer.unmatched'],
    ends: { assign: { deed: one => one.assign(), shown: PAID, dropped: DROPPED, events: COMPLETED } },
  },
  'the price': {
    ways: EVERY,
    deed: one => one.pay(PRICE),
    shown: PAID,
    dropped: DROPPED,
    events: COMPLETED,
    ends: { wait: { deed: one => one.overtime(), shown: PAID, dropped: DROPPED, events: [] } },
  },
  'more than due': {
    ways: FREE,
    deed: one => one.pay(one.due + EXCESS),
    shown: TOO_MUCH,
    dropped: DROPPED,
    events: [...COMPLETED, 'checkout.overpaid'],
    ends: { 'refund the rest': { ...REFUNDS, ...REFUND.excess } },
  },
  'the price twice': {
    ways: EVERY,
    deed: async one => {
      await one.pay(PRICE);
      await one.pay(PRICE);
    },
    shown: TWICE,
    dropped: DROPPED,
    events: [...COMPLETED, 'payment.completed', 'checkout.overpaid'],
    ends: {
      'refund the rest': { ...REFUNDS, ...REFUND.twice },
      move: { deed: one => one.move(), shown: PAID, dropped: DROPPED, events: [] },
    },
  },
  'after the end': {
    ways: EVERY,
    deed: async one => {
      await one.overtime();
      await one.pay(PRICE);
    },
    shown: LATE,
    dropped: DROPPED,
    events: ['checkout.expired', 'payment.completed', 'checkout.paid_late'],
    ends: { accept: ACCEPTED, refund: { ...REFUNDS, ...REFUND.late } },
  },
  'less than due after the end': {
    ways: FREE,
    deed: async one => {
      await one.overtime();
      await one.pay(PART);
    },
    shown: ENDED_PARTIAL,
    dropped: DROPPED,
    events: ['checkout.expired', 'payment.completed', 'checkout.paid_late'],
    ends: { accept: ACCEPTED, refund: { ...REFUNDS, ...REFUND.endedPart } },
  },
  'sold out while open': {
    ways: SEEN,
    deed: one => one.sellOut(),
    shown: SOLD_OUT,
    dropped: SOLD_OUT,
    events: ['checkout.expired'],
    ends: { wait: { deed: one => one.overtime(), shown: SOLD_OUT, dropped: SOLD_OUT, events: [] } },
  },
  'sold out, paid all the same': {
    ways: EVERY,
    deed: async one => {
      await one.sellOut();
      await one.pay(PRICE);
    },
    shown: PAID_SOLD_OUT,
    dropped: DROPPED,
    events: ['checkout.expired', 'payment.completed', 'checkout.paid_late'],
    ends: { accept: ACCEPTED, refund: { ...REFUNDS, ...REFUND.soldOut } },
  },
  'sold out while a payment is confirmed': {
    ways: SEEN,
    deed: one => one.race(PRICE),
    shown: PAID_SOLD_OUT,
    dropped: DROPPED,
    events: ['payment.completed', 'checkout.expired', 'checkout.paid_late'],
    ends: { accept: ACCEPTED, refund: { ...REFUNDS, ...REFUND.soldOut } },
  },
  'matched with nothing': {
    ways: ['price'],
    deed: one => one.pay(PRICE),
    shown: `${OPEN}, open`,
    dropped: OPEN,
    events: ['transfer.unmatched'],
    ends: {
      assign: { deed: one => one.assign(), shown: PAID, dropped: DROPPED, events: COMPLETED },
      dismiss: {
        deed: one => one.dismiss(),
        shown: `${OPEN}, dismissed`,
        dropped: OPEN,
        events: [],
      },
      refund: {
        deed: one => one.refundUnmatched(PRICE),
        shown: `${OPEN}, refunded`,
        dropped: OPEN,
        events: REFUNDS.events,
      },
    },
  },
  'a failed attempt': {
    ways: ['wallet'],
    deed: one => one.payInVain(),
    shown: `${FAILED}, pay`,
    dropped: `${FAILED}, pay`,
    events: ['payment.failed'],
    ends: {
      'pay again': { deed: one => one.pay(PRICE), shown: PAID, dropped: DROPPED, events: COMPLETED },
      wait: { deed: one => one.overtime(), shown: FAILED, dropped: FAILED, events: ['checkout.expired'] },
    },
  },
};

/** Events in the order of a way: an assigned transfer was unmatched before. */
function eventsBy(way: Way, steps: readonly Step[]): string[] {
  const types = steps.flatMap(step => step.events);
  return way === 'assignment'
    ? types.flatMap(type => (type === 'payment.completed' ? ['transfer.unmatched', type] : [type]))
    : types;
}

function shownBy(way: Way, { shown }: Step): string {
  return typeof shown === 'string' || way === 'price' ? `${shown}` : shown[way];
}

/** Events that a reorganisation repeats. */
const REPEATED = /^(payment|refund)\./;

eachServedShop('money that arrived', test => {
  describe.for(Object.entries(ROWS))('%s', ([, row]) => {
    const cells = row.ways.flatMap(way =>
      Object.entries(row.ends).map(([name, end]) => ({ way, name, end })),
    );

    test.for(cells)('by $way, then: $name', async ({ way, end }, { shop }) => {
      const one = await customer(shop, way, row.tolerance);
      await row.deed(one);
      const before = await one.shown();
      await end.deed(one);
      const after = await one.shown();
      const events = await one.events();
      await one.drop();
      const dropped = await one.shown();
      await one.bringBack();

      expect([before, after, dropped, await one.shown()]).toEqual([
        shownBy(way, row),
        shownBy(way, end),
        end.dropped,
        end.back ?? shownBy(way, end),
      ]);
      expect(events).toEqual(eventsBy(way, [row, end]));
      const more = (await one.events()).slice(events.length);
      expect(more.filter(type => !REPEATED.test(type))).toEqual(end.backEvents ?? []);
    });

    test.for(row.ways)('by %s, dropped and mined again', async (way, { shop }) => {
      const one = await customer(shop, way, row.tolerance);
      await row.deed(one);
      await one.drop();
      const dropped = await one.shown();
      await one.bringBack();

      expect([dropped, await one.shown()]).toEqual([row.dropped, row.back ?? shownBy(way, row)]);
    });
  });

  test.for(FREE)(
    'by %s, sent back and then followed by the rest, is not the price',
    async (way, { shop }) => {
      const one = await customer(shop, way);
      await one.pay(PART);
      await one.refund(PART);
      await one.pay(REST);

      expect(await one.shown()).toBe('partial: 3 USDS still to pay, Partly paid, pay, refunded 3 USDS');
    },
  );

  test.for(FREE)('by %s, within the tolerance, is shown as it arrived', async (way, { shop }) => {
    const one = await customer(shop, way, 1);
    await one.pay(PRICE - LITTLE);

    const receipt = await one.receipt();

    expect(receipt).toMatchObject({ Amount: '5 USDS', Received: '4.96 USDS' });
    expect(await one.payment()).toMatchObject({ amount: `${PRICE - LITTLE}`, partial: false });
  });

  test('that was sent back cannot be accepted', async ({ shop }) => {
    const one = await customer(shop, 'wallet');
    await one.overtime();
    await one.pay(PRICE);
    await one.refund(PRICE);

    await expect(one.accept()).rejects.toThrow('has no money left that is not refunded');
  });
});

/** What is shown by each way, with the sum that was paid. */
function everyWay(shown: (sum: string) => string): Record<Exclude<Way, 'price'>, string> {
  return { wallet: shown('5 USDS'), amount: shown('exact amount'), assignment: shown('5 USDS') };
}
