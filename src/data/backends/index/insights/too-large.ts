import { QueryTooLarge } from '../../../../indexer/query/query.ts';
import { BackendError } from '../../../port/backend-error.ts';

const ADVICE = {
  deadline:
    'the query took longer than 10 seconds: narrow it with filter_block_number or filter_block_timestamp',
  groups: 'the query has more than 100000 groups: group by fewer fields, or narrow it with filters',
} as const;

/** The outcome, a query that is too large being the client's to change. @throws BackendError `rejected`, with advice. */
export async function advising<Result>(pending: Promise<Result>): Promise<Result> {
  try {
    return await pending;
  } catch (cause) {
    if (!(cause instanceof QueryTooLarge)) throw cause;
    throw new BackendError('rejected', 'bad_input', ADVICE[cause.reason], { cause });
  }
}
