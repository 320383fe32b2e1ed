import { HttpError } from '../../http/errors.ts';
import { retryAfterOf, sentenceOf } from '../fallback/chain-answer.ts';
import type { ChainsAnswer } from './ask-chains.ts';
import type { UnknownChain } from './select-chains.ts';

/**
 * What a client is to hear when no chain answered, by the failure table: 400 for what a back end refused, 404 or 400 when
 * those who would know have nothing, 503 while queries are too many, 504, 502 and 501 otherwise, which decide whether a held answer may stand in.
 */
export function nothingAnswered({ failed }: ChainsAnswer<unknown>, unknown: UnknownChain): HttpError {
  const failures = failed.flatMap(({ failures: own }) => own);
  const cause = new AggregateError(failures.map(({ error }) => error));
  const rejected = failures.find(({ error }) => error.kind === 'rejected');
  if (rejected !== undefined) return new HttpError(400, rejected.error.message, { cause });
  const lastWords = failed.map(({ failures: own }) => own.at(-1));
  const [missing] = lastWords.filter(failure => failure?.error.kind === 'not_found');
  const outages = failures.filter(
    ({ chain, error }) =>
      error.kind === 'unavailable' &&
      !lastWords.some(last => last?.chain === chain && last.error.kind === 'not_found'),
  );
  if (outages.length > 0 && outages.every(({ error }) => error.reason === 'busy')) {
    return new HttpError(
      BUSY,
      'Too many long queries run at the moment: retry in a few seconds, or narrow the query',
      {
        cause,
        headers: retryAfterOf(outages),
      },
    );
  }
  if (outages.length > 0) {
    const status = outages.every(({ error }) => error.reason === 'timeout') ? 504 : 502;
    return new HttpError(status, `No back end could answer: ${outages.map(sentenceOf).join('; ')}`, {
      cause,
      headers: retryAfterOf(outages),
    });
  }
  if (missing !== undefined) {
    const isName = missing.error.reason === 'unknown_name';
    return new HttpError(isName && unknown === 'invalid' ? 400 : 404, missing.error.message, { cause });
  }
  const all = failures.length === 0 ? 'no back end is configured' : failures.map(sentenceOf).join('; ');
  return new HttpError(501, `No configured back end has this answer: ${all}`, { cause });
}

/** Too many long queries run. Decision 164. */
const BUSY = 503;

/** A failure in this family's statuses: above 500 it has only the one of too many queries. */
export function insightsFailure(error: unknown): unknown {
  if (!(error instanceof HttpError) || error.status <= 500 || error.status === BUSY) return error;
  return new HttpError(500, error.message, { cause: error, headers: error.headers });
}
