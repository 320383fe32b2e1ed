import { MERCHANT_WORDS } from '#payments/browser/outcome-words.ts';
import { givenFilters, givenPeriod, oneOf, oneOfKeys } from '../filters.ts';

/** Options of a filter. */
export type Options = readonly (readonly [value: string, text: string])[];

/** Outcomes of checkouts with the words of their badges, and what else may have happened with the money. */
export const CHECKOUT_STATES: Options = [
  ['active', 'Open'],
  ...Object.entries(MERCHANT_WORDS).map(([outcome, { badge }]) => [outcome, badge] as const),
  ['refunded', 'Refunded'],
  ['unmatched', 'With an unmatched transfer'],
];
export const TRANSFER_STATUSES = [
  ['pending', 'Pending'],
  ['confirming', 'Confirming'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
] as const;
export const MARKS = [
  ['late', 'Late'],
  ['duplicate', 'Paid twice'],
  ['partial', 'Part of the price'],
  ['overpaid', 'Overpaid'],
] as const;
/** Orders besides the newest first. */
export const ORDERS = [
  ['oldest', 'Oldest first'],
  ['largest', 'Largest amount'],
  ['smallest', 'Smallest amount'],
] as const;

/** Filters of the list of checkouts, from the URL. */
export function checkoutFilters() {
  const state = givenFilters().get('state');
  const outcome = oneOfKeys('state', MERCHANT_WORDS);
  return {
    ...(state === 'active' && ({ status: 'active' } as const)),
    ...(outcome && { outcome }),
    ...(state === 'refunded' && { refunded: true }),
    ...(state === 'unmatched' && { unmatched: true }),
    ...sharedFilters(),
  };
}

/** Filters of the list of transfers, from the URL. */
export function transferFilters() {
  const status = oneOf('status', TRANSFER_STATUSES);
  const mark = oneOf('mark', MARKS);
  return { ...(status && { status }), ...(mark && { mark }), ...sharedFilters() };
}

function sharedFilters() {
  const given = givenFilters();
  const query = given.get('query');
  const link = given.get('payment_link_id');
  const [, chain, token] = /^(\d{1,16}):(0x[0-9a-fA-F]{40})$/.exec(given.get('token') ?? '') ?? [];
  return {
    ...(query !== undefined && { query }),
    ...(link !== undefined && { payment_link_id: link }),
    ...(chain !== undefined && { chain_id: Number(chain) }),
    ...(token !== undefined && { token_address: token }),
    ...givenPeriod(),
  };
}

/** Order of both lists, from the URL. */
export function givenOrder() {
  const order = oneOf('sort', ORDERS);
  return {
    ...(order === 'oldest' && ({ order: 'asc' } as const)),
    ...(order === 'largest' && ({ sort: 'amount' } as const)),
    ...(order === 'smallest' && ({ sort: 'amount', order: 'asc' } as const)),
  };
}
