import type { AbiEvent } from 'viem';
import type { WaitingClients } from '../../lib/request-counters.ts';
import type { GroupPage } from '../../query-model/aggregation-plan.ts';
import type { Fold, Group, RowExpression } from '../../query-model/expression.ts';
import type { RowSelection, WrittenGroups } from '../../query-model/row-selection.ts';

/** A page of rows and their total number. */
export interface RowsQuery extends RowSelection {
  readonly kind: 'rows';
  /** Ties are ordered by block, transaction and log index in the same direction. Nulls come last. */
  readonly sort: { readonly field: string; readonly order: 'asc' | 'desc' };
  readonly limit: number;
  /** Rows to skip before the page. */
  readonly offset: number;
  /** Rows are counted up to this number. The answer tells when there are more. */
  readonly countUpTo: number;
  /** Adds `decoded` to the records of the page. */
  readonly decoding?: Decoding;
}

/** Decoding of the records of a page. */
export interface Decoding {
  /** Maximum size of all decoded values as text, in bytes. Later records have no `decoded`. */
  readonly mostBytes: number;
  /** Event ABI to try before all others. */
  readonly like?: AbiEvent;
}

/** Groups of all selected rows. Without keys there is one group, even without rows. */
export interface GroupsQuery extends RowSelection {
  readonly kind: 'groups';
  readonly keys: readonly RowExpression[];
  readonly folds: readonly Fold[];
  /**
   * Maximum number of groups, and of values of all `distinct` folds together. Keys and values of all groups together
   * may be at most twice this number.
   * Beyond that the query fails.
   */
  readonly limit: number;
  /** Page to compute and serialize in the query thread. */
  readonly page?: GroupPage;
}

export interface RecordsPage {
  /** UTF-8 JSON text of the list of records, in the form of document 2. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
  /** True when there are more rows than were counted. */
  readonly isCapped: boolean;
}

export interface GroupsAnswer {
  readonly groups: readonly Group[];
}

/** Maximum characters of one answer that is handed to the main thread. */
export const MAX_CHARACTERS = 2 ** 24;

const TOO_LARGE = {
  deadline: 'the query took too long',
  groups: 'the query has too many groups',
  page: 'the rows of the page are too long',
  memory: 'the query needs more memory than its share',
} as const;

/** The query took too long or its answer is too large. The caller should request less. */
export class QueryTooLarge extends Error {
  readonly reason: keyof typeof TOO_LARGE;
  constructor(reason: keyof typeof TOO_LARGE) {
    super(TOO_LARGE[reason]);
    this.name = 'QueryTooLarge';
    this.reason = reason;
  }
}

/** All query threads are busy, or too many queries of the client wait. The same query may succeed a little later. */
export class QueriesBusy extends Error {
  constructor() {
    super('too many queries are running');
    this.name = 'QueriesBusy';
  }
}

/**
 * Runs queries over one index off the main thread, each on a read-only connection and with a deadline. Queries run in
 * turns of the clients that wait for their answer; without clients they run in the order of arrival.
 * After the first query for an answer has started, its further queries may wait longer for a thread.
 */
export interface QueryEngine {
  /** @throws QueryTooLarge, QueriesBusy */
  records(query: RowsQuery, signal: AbortSignal, clients?: WaitingClients): Promise<RecordsPage>;
  /** @throws QueryTooLarge, QueriesBusy */
  groups(query: GroupsQuery, signal: AbortSignal, clients?: WaitingClients): Promise<GroupsAnswer>;
  /**
   * Reads the page of a query that has one.
   * @throws QueryTooLarge, QueriesBusy
   */
  groupPage(
    query: GroupsQuery & { readonly page: GroupPage },
    signal: AbortSignal,
    clients?: WaitingClients,
  ): Promise<WrittenGroups>;
}
