import { QueriesBusy, QueryTooLarge } from '../../../../indexer/query/query.ts';
import { BackendError } from '../../../port/backend-error.ts';

const ADVICE = {
  deadline:
    'the query took longer than 10 seconds: narrow it with filter_block_number or filter_block_timestamp',
  groups:
    'the query has more than 100000 groups or different values, or more than 200000 values in all groups, or too long ones: group by fewer fields, aggregate less, or narrow it with filters',
  page: 'the rows of this page have more than 16 MB: ask for a lower limit',
} as const;

/**
 * The outcome. @throws BackendError `rejected`, with advice, of a query that is too large, which is the client's to
 * change; `unavailable` while other queries have all threads.
 */
export async function advising<Result>(pending: Promise<Result>): Promise<Result> {
  try {
    return await pending;
  } catch (cause) {
    if (cause instanceof QueriesBusy) {
      const message = 'it is busy with other long queries: ask again in a few seconds';
      throw new BackendError('unavailable', 'failed', message, { cause });
    }
    if (!(cause instanceof QueryTooLarge)) throw cause;
    throw new BackendError('rejected', 'bad_input', ADVICE[cause.reason], { cause });
  }
}
