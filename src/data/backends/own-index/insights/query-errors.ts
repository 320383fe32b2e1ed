import { QueriesBusy, QueryTooLarge } from '#indexer/query/query.ts';
import { BackendError } from '../../port/backend-error.ts';

const ADVICE = {
  deadline:
    'the query took longer than 10 seconds: narrow it with filter_block_number or filter_block_timestamp',
  groups:
    'the query has more than 100000 groups or different values, or more than 200000 values in all groups, or too long ones: group by fewer fields, aggregate less, or narrow it with filters',
  page: 'the rows of this page have more than 16 MB: ask for a lower limit',
  memory:
    'the query needs more memory than it may have: group by fewer fields, aggregate less, or narrow it with filters',
} as const;

/** Time after which a query that found no thread is sent again, in milliseconds. Decision 164. */
const RETRY_AFTER_MS = 1_000;

/**
 * The outcome. @throws BackendError `rejected`, with advice, of a query that is too large, which is the client's to
 * change; `unavailable` while other queries have all threads.
 */
export async function advising<Result>(pending: Promise<Result>): Promise<Result> {
  try {
    return await pending;
  } catch (cause) {
    if (cause instanceof QueriesBusy) {
      const message = 'it is busy with other long queries';
      throw new BackendError('unavailable', 'busy', message, { cause, retryAfterMs: RETRY_AFTER_MS });
    }
    if (!(cause instanceof QueryTooLarge)) throw cause;
    throw new BackendError('rejected', 'bad_input', ADVICE[cause.reason], { cause });
  }
}
