import { HttpError } from '../../http/errors.ts';
import { type Failure, leavesOpen, retryAfterOf, sentenceOf } from '../fallback/chain-answer.ts';

/**
 * What a client hears when nobody had an answer, by the failure table: 400 for input that a back end refused, 502 or
 * 504 while one that might know is out, 501 where nothing here can answer, 404 when those that know have nothing.
 */
export function failureOf(all: readonly Failure[], cause: unknown): HttpError {
  const failures = lastWords(all);
  const of = (kind: string) => failures.filter(({ error }) => error.kind === kind);
  const [rejected] = of('rejected');
  if (rejected !== undefined) return new HttpError(400, rejected.error.message, { cause });
  const unavailable = of('unavailable');
  if (unavailable.length > 0) {
    const timedOut = unavailable.every(({ error }) => error.reason === 'timeout');
    return new HttpError(
      timedOut ? 504 : 502,
      `No back end could answer: ${unavailable.map(sentenceOf).join('; ')}`,
      { cause, headers: retryAfterOf(unavailable) },
    );
  }
  const [missing] = of('not_found');
  if (missing !== undefined && !failures.some(leavesOpen))
    return new HttpError(404, missing.error.message, { cause });
  return new HttpError(
    501,
    `No configured back end has this answer: ${failures.map(sentenceOf).join('; ')}`,
    {
      cause,
    },
  );
}

/** `not_found` is a chain's last word, from a back end that would know: what failed there before does not matter. */
function lastWords(failures: readonly Failure[]): readonly Failure[] {
  const isLast = ({ error: { kind } }: Failure) => kind === 'not_found' || kind === 'rejected';
  const settled = new Set(failures.filter(isLast).map(({ chain }) => chain.id));
  return failures.filter(failure => isLast(failure) || !settled.has(failure.chain.id));
}
