import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { HttpError } from '#http/errors.ts';
import { timestamp } from '#lib/clock.ts';
import { CursorFault, type SortedPage } from '../../search/sorted-page.ts';
import type { ListPage } from '../../store/list-query.ts';

/** Envelope of every list. Source: document 3, "List envelope". */
interface PagedList<Body> {
  object: 'list';
  data: Body[];
  has_more: boolean;
  total_count: number;
  /** Path with `/api/v1`, without the query (Decision 96). */
  url: string;
}

/** A page of records in the list envelope, each converted by `bodyOf`. `url` is the path of the list. */
export function pagedList<Row, Body>(
  url: string,
  { data, total, hasMore }: ListPage<Row>,
  bodyOf: (row: Row) => Body,
): PagedList<Body> {
  return { object: 'list', data: data.map(bodyOf), has_more: hasMore, total_count: total, url };
}

/** The same for a list that continues by cursor (Decision 430). */
export function sortedList<Row, Body>(url: string, page: SortedPage<Row>, bodyOf: (row: Row) => Body) {
  return { ...pagedList(url, page, bodyOf), next_cursor: page.next };
}

/** Refuses a cursor of another list or order; throws every other error again. */
export function cursorRefused(error: unknown): never {
  if (!(error instanceof CursorFault)) throw error;
  const message = "The 'cursor' parameter must be the next_cursor of a page of this list in this order.";
  throw paymentsError('invalid_field_value', message, { param: 'cursor' });
}

/** Body of every success of webhooks and notifications. Document 3, "Endpoints". */
export function success<Data>(data: Data): { success: true; data: Data } {
  return { success: true, data };
}

/** Page of webhooks or deliveries: the document's envelope with `has_more` and `total_count` (Decision 119). */
export function successPage<Row, Body>({ data, total, hasMore }: ListPage<Row>, bodyOf: (row: Row) => Body) {
  return { ...success(data.map(bodyOf)), has_more: hasMore, total_count: total };
}

/** Kinds of records that a request names by id, as in the contract's `object`. */
type RecordKind =
  | 'payment_link'
  | 'checkout_session'
  | 'customer'
  | 'transaction'
  | 'unmatched_transfer'
  | 'refund'
  | 'deposit_address'
  | 'event'
  | 'api_key'
  | 'recipient'
  | 'image'
  | 'webhook'
  | 'webhook_delivery'
  | 'dashboard_session'
  | 'member'
  | 'passkey';

/** Refusal of an unknown id. A record of another owner looks like a missing one (Decision 96). */
export function resourceNotFound(kind: RecordKind, id: string): HttpError {
  return paymentsError('resource_not_found', `No ${kind} with id '${id}'.`);
}

/** A time in the contract's form, from UTC milliseconds (Decision 95). Null stays null. */
export function nullableTimestamp(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

/** A time range in UTC milliseconds: `from` is inclusive, `to` exclusive, undefined is no bound. */
interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** Parses the filters `from` and `to` and cuts them to milliseconds (Decisions 95 and 102). */
export function periodOf({ from, to }: { from?: string; to?: string }): Period {
  return { from: momentOf(from), to: momentOf(to) };
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
