import type { DataServiceOperations } from '#contract/contracts/data-service.ts';
import { type ExplorerSchemas, explorerContract } from '#contract/contracts/explorer.ts';
import type { Caller, Handlers, OperationRequest } from '#contract/contracts/operations.ts';
import { InvalidParameter } from '#contract/contracts/violations.ts';
import { checkParameters, type ReadRequest, readParameters } from '#contract/mount/parameters.ts';
import { HttpError } from '#http/errors.ts';
import type { Clock } from '#lib/clock.ts';
import { fromJson } from '#lib/json.ts';
import type { DataOperations } from '../backends/port/backend.ts';
import type { Chain } from '../fallback/chain.ts';
import { EXPORTED_LISTS, type ExportedList } from './lists.ts';
import type { ExportContext, ExportedPage, ExportedRecords } from './records.ts';
import { runningExports } from './running-exports.ts';

interface ListExportDeps {
  readonly chains: readonly Chain[];
  /** Operations of document 1 that answer past the cache. */
  readonly operations: Handlers<DataOperations>;
  readonly clock: Clock;
}

/** Limits of one file: records that are read, and time within which a page may be begun, in milliseconds. */
const MAX_RECORDS = 10_000;
const MAX_MS = 60_000;
/** Time after that in which the last page must be read and taken by the client. */
const LAST_PAGE_MS = 30_000;
/** Records of a full page. */
const PAGE = 50;

type Query = OperationRequest<DataServiceOperations['exportList']>['query'];

/** Handler that writes a list as CSV, page by page while the client reads (Decision 424). */
export function listExport(deps: ListExportDeps): Handlers<DataServiceOperations>['exportList'] {
  const { chains, operations, clock } = deps;
  const running = runningExports();

  return async ({ path: { list }, query }, caller) => {
    const { records, file, isOfToken } = EXPORTED_LISTS[list];
    const { segments, request } = listRequest(list, query);
    const period = periodOf(query, records);
    const readPage = pageReader(operations[list], { request, caller, clock });
    const endsAt = clock.now() + MAX_MS;
    const end = running.begin(caller.client?.key);
    const overdue = new AbortController();
    const over = new AbortController();
    const release = () => {
      end();
      over.abort();
    };
    clock.sleep(MAX_MS + LAST_PAGE_MS, over.signal).then(
      () => overdue.abort(),
      () => undefined,
    );
    try {
      const first = await readPage(query.cursor);
      const chain = chains.find(({ id }) => String(id) === first.headers['X-Chain-Id']);
      if (chain === undefined) throw new Error(`${list} is of no configured chain`);
      const tokenDecimals =
        isOfToken === true ? await decimalsOf(operations.getToken, query, chain.id, { caller, clock }) : null;
      const context = { coin: chain.native, tokenDecimals };
      const name = [file, chain.id, ...Object.values(segments)].join('-');
      const chunks = csv(
        { ...first, readPage, mayGoOn: () => clock.now() < endsAt },
        { records, context, period },
      );
      return {
        status: 200,
        headers: {
          ...first.headers,
          'Cache-Control': 'no-store',
          'Content-Disposition': `attachment; filename="${name}.csv"`,
        },
        streamed: { chunks, close: release, overdue: overdue.signal },
      };
    } catch (error) {
      release();
      throw error;
    }
  };
}

/** Parameters of paths that an export takes in its query. */
const PATH_PARAMETERS: readonly string[] = ['address_hash', 'transaction_hash', 'block_number_or_hash', 'id'];

/** Request for a list, by the rules of its own operation. @throws InvalidParameter */
function listRequest(list: ExportedList, query: Query) {
  const row = explorerContract.table[list];
  const given = new Map<string, unknown>(Object.entries(query));
  const segments: Record<string, string> = {};
  const rest = new URLSearchParams();
  for (const { name, in: location } of row.parameters) {
    const value = given.get(name);
    // A position may have the name of a path parameter. Only `cursor` continues an export.
    if (location === 'query' && PATH_PARAMETERS.includes(name)) continue;
    if (location === 'query') for (const item of [value ?? []].flat()) rest.append(name, String(item));
    else if (value === undefined) throw new InvalidParameter(name, `is required for ${list}`);
    else segments[name] = String(value);
  }
  const request = readParameters(row, segments, rest.toString());
  checkParameters(explorerContract.parameters, row, request);
  return { segments, request };
}

interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The requested period; undefined without one. @throws InvalidParameter for a list without times */
function periodOf({ from, to }: Query, { hasTimes }: ExportedRecords): Period | undefined {
  if (from === undefined && to === undefined) return undefined;
  if (!hasTimes)
    throw new InvalidParameter(from === undefined ? 'to' : 'from', 'is refused: this list has no times');
  return {
    fromMs: from === undefined ? Number.NEGATIVE_INFINITY : timeOf('from', from),
    toMs: to === undefined ? Number.POSITIVE_INFINITY : timeOf('to', to),
  };
}

/** UTC milliseconds; a time without a zone is UTC, as a date is. */
function timeOf(name: string, text: string): number {
  const isLocal = text.includes('T') && !/(?:Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = Date.parse(isLocal ? `${text}Z` : text);
  if (Number.isNaN(ms)) throw new InvalidParameter(name, 'must be a date that exists');
  return ms;
}

interface ListPage {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface PageSource {
  readonly request: ReadRequest;
  readonly caller: Caller;
  readonly clock: Clock;
}

type ReadPage = (cursor: string | undefined) => Promise<ListPage>;

/** Reads pages of a list, and charges the client for the time. A cursor alone stays with its back end. */
function pageReader(handler: unknown, { request, caller, clock }: PageSource): ReadPage {
  if (!isHandler(handler)) throw new Error('a list has no handler');
  return async cursor => {
    const startedAt = clock.now();
    const query = cursor === undefined ? request.query : { ...request.query, cursor };
    const { headers, encoded } = await handler({ ...request, query }, caller);
    caller.client?.charge(clock.now() - startedAt);
    return { text: encoded.representation.identity.toString(), headers };
  };
}

type ListHandler = (
  request: ReadRequest,
  caller: Caller,
) => Promise<{ headers: Record<string, string>; encoded: { representation: { identity: Buffer } } }>;

/** All lists are answered by handlers of one kind, and the request was read by the rules of this list. */
function isHandler(value: unknown): value is ListHandler {
  return typeof value === 'function';
}

/** Decimals of the token at `address_hash`; null where no back end has them now. */
async function decimalsOf(
  getToken: unknown,
  { address_hash }: Query,
  chain_id: number,
  from: Omit<PageSource, 'request'>,
) {
  const request = { path: { address_hash }, query: { chain_id } };
  try {
    const { text } = await pageReader(getToken, { ...from, request })(undefined);
    return fromJson<ExplorerSchemas['Token']>(text).decimals;
  } catch (error) {
    if (error instanceof HttpError) return null;
    throw error;
  }
}

/** Text of the file, a page at a time. */
async function* csv(
  walk: { readonly text: string; readonly readPage: ReadPage; readonly mayGoOn: () => boolean },
  {
    records,
    context,
    period,
  }: { records: ExportedRecords; context: ExportContext; period: Period | undefined },
): AsyncGenerator<string> {
  let page: ExportedPage = records.page(walk.text, context);
  yield records.header;
  for (let read = page.rows.length; ; read += page.rows.length) {
    yield page.rows.flatMap(({ timeMs, line }) => (isWithin(timeMs, period) ? [line] : [])).join('');
    if (page.next === undefined || page.rows.some(({ timeMs }) => isBefore(timeMs, period))) return;
    if (read + PAGE > MAX_RECORDS || !walk.mayGoOn()) {
      yield records.note(`More records follow. Continue with cursor=${page.next}`);
      return;
    }
    page = records.page((await walk.readPage(page.next)).text, context);
  }
}

/** A record without a time is in no period. */
function isWithin(timeMs: number | undefined, period: Period | undefined): boolean {
  if (period === undefined) return true;
  return timeMs !== undefined && timeMs >= period.fromMs && timeMs < period.toMs;
}

function isBefore(timeMs: number | undefined, period: Period | undefined): boolean {
  return period !== undefined && timeMs !== undefined && timeMs < period.fromMs;
}
