import { paymentsError } from '#contract/contracts/payments-errors.ts';
import type { HttpError } from '#http/errors.ts';
import { timestamp } from '#lib/clock.ts';
import type { ListPage } from '../../store/list-query.ts';

/** The envelope of every list. Source: document 3, "List envelope". */
interface PagedList<Body> {
  object: 'list';
  data: Body[];
  has_more: boolean;
  total_count: number;
  /** Path with `/api/v1`, without the query (Decision 96). */
  url: string;
}

/** A page of records in the list envelope, each by `bodyOf`. `url` is the path of the list. */
export function pagedList<Row, Body>(
  url: string,
  { data, total, hasMore }: ListPage<Row>,
  bodyOf: (row: Row) => Body,
): PagedList<Body> {
  return { object: 'list', data: data.map(bodyOf), has_more: hasMore, total_count: total, url };
}

/** The body of every success of the webhooks and notifications. Document 3, "Endpoints". */
export function success<Data>(data: Data): { success: true; data: Data } {
  return { success: true, data };
}

/** The body of a page of webhooks or deliveries. Decision 119: the document's envelope, and where the list ends. */
export function successPage<Row, Body>({ data, total, hasMore }: ListPage<Row>, bodyOf: (row: Row) => Body) {
  return { ...success(data.map(bodyOf)), has_more: hasMore, total_count: total };
}

/** Records that a request names by id, as the contract's `object` writes them. */
type RecordKind =
  | 'payment_link'
  | 'checkout_session'
  | 'transaction'
  | 'unmatched_transfer'
  | 'event'
  | 'api_key'
  | 'recipient'
  | 'webhook'
  | 'webhook_delivery';

/** What another owner's record and one that never was answer alike (Decision 96). */
export function notFound(kind: RecordKind, id: string): HttpError {
  return paymentsError('resource_not_found', `No ${kind} with id '${id}'.`);
}

/** UTC milliseconds as the contract writes a time (Decision 95); null for one that has not come. */
export function timestampOrNull(ms: number | null): string | null {
  return ms === null ? null : timestamp(ms);
}

/** A span of time in UTC milliseconds: `from` is in it, `to` is not; undefined is without a bound. */
interface Period {
  readonly from: number | undefined;
  readonly to: number | undefined;
}

/** The filters `from` and `to` as a client writes them; what is beyond milliseconds is cut off. Decisions 95 and 102. */
export function periodOf({ from, to }: { from?: string; to?: string }): Period {
  return { from: momentOf(from), to: momentOf(to) };
}

function momentOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Date.parse(text);
}
