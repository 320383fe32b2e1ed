import type { ListPage } from '../../store/paging.ts';

/** The envelope of every list. Source: document 3, "List envelope". */
export interface PagedList<Body> {
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
