import type { AbiEvent } from 'viem';
import type { GroupPage } from '../../lib/groups/aggregation-plan.ts';
import type { Fold, Group, RowExpression } from '../../lib/groups/expression.ts';

/** What can be queried: the canonical chain's blocks, transactions and logs. */
export type Entity = 'blocks' | 'transactions' | 'events';

/** All filters must hold. Hex is lower-case and of the field's full length, topics padded to 32 bytes. */
export interface Filter {
  /** Public name, known to the entity. */
  readonly field: string;
  readonly operator: 'eq' | 'gte' | 'gt' | 'lte' | 'lt';
  readonly value: bigint | string;
}

/** Which rows of an entity are meant. */
export interface RowSelection {
  readonly entity: Entity;
  readonly filters: readonly Filter[];
  /** Transactions that this address sent or received, each once. */
  readonly wallet?: string;
}

/** A page of rows, and how many there are. */
export interface RowsQuery extends RowSelection {
  readonly kind: 'rows';
  /** Ties follow by block, transaction and log index in the same direction; nulls come last. */
  readonly sort: { readonly field: string; readonly order: 'asc' | 'desc' };
  readonly limit: number;
  /** Rows before the page. */
  readonly offset: number;
  /** Rows are counted up to this many; beyond it the answer says so. */
  readonly countUpTo: number;
  /** Records of the page get `decoded`; without it they have none. */
  readonly decoding?: Decoding;
}

/** How the records of a page are decoded. */
export interface Decoding {
  /** Bound of all decoded values with their text, in bytes; records beyond it have none. */
  readonly mostBytes: number;
  /** An event to decode by before all others. */
  readonly like?: AbiEvent;
}

/** All groups of the rows; no keys make one group, also of no rows. */
export interface GroupsQuery extends RowSelection {
  readonly kind: 'groups';
  readonly keys: readonly RowExpression[];
  readonly folds: readonly Fold[];
  /**
   * More groups, or more values of all `distinct` together, than this are an error, and so are more keys and values in
   * all groups than twice as many.
   */
  readonly limit: number;
  /** A page of what becomes of the groups, to be written where they are read. */
  readonly page?: GroupPage;
}

export interface RecordsPage {
  /** JSON text of the list of records in the form of document 2, in UTF-8. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
  /** There are more than were counted. */
  readonly isCapped: boolean;
}

export interface GroupsAnswer {
  readonly groups: readonly Group[];
}

/** The rows of a page of groups, as JSON text of their list in UTF-8, and how many groups there are. */
export interface WrittenGroups {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
}

/** More characters than this in one answer are too many to hand to the main thread. */
export const MOST_CHARACTERS = 2 ** 24;

const TOO_LARGE = {
  deadline: 'the query took too long',
  groups: 'the query has too many groups',
  page: 'the rows of the page are too long',
  memory: 'the query needs more memory than its share',
} as const;

/** It took longer than it may, or gives more than fits: the caller should ask for less. */
export class QueryTooLarge extends Error {
  readonly reason: keyof typeof TOO_LARGE;
  constructor(reason: keyof typeof TOO_LARGE) {
    super(TOO_LARGE[reason]);
    this.name = 'QueryTooLarge';
    this.reason = reason;
  }
}

/** Other queries have all threads: the same one may be answered a little later. */
export class QueriesBusy extends Error {
  constructor() {
    super('too many queries run already');
    this.name = 'QueriesBusy';
  }
}

/**
 * Runs queries over one index, off the main thread, each on a read-only connection and within a deadline. Queries of
 * the same `request` wait longer for a thread once the first of them runs.
 */
export interface QueryEngine {
  /** @throws QueryTooLarge, QueriesBusy */
  records(query: RowsQuery, signal: AbortSignal, request?: object): Promise<RecordsPage>;
  /** @throws QueryTooLarge, QueriesBusy */
  groups(query: GroupsQuery, signal: AbortSignal, request?: object): Promise<GroupsAnswer>;
  /** The page of a query that has one. @throws QueryTooLarge, QueriesBusy */
  groupPage(
    query: GroupsQuery & { readonly page: GroupPage },
    signal: AbortSignal,
    request?: object,
  ): Promise<WrittenGroups>;
}
