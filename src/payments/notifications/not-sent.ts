/** Reason for a failure to send, which decides the remedy. */
type NotSentKind =
  /** Refused for good: another address or chat is needed. */
  | 'refused'
  /** The person has blocked the bot. */
  | 'blocked'
  /** No answer, a temporary failure, or wrong credentials of ours. A retry may succeed. */
  | 'unavailable';

interface NotSentFacts {
  /** Time in milliseconds for which the other side wants no more requests. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** Failure of a mailer or messenger. The message contains no secret, even when its cause does. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
  readonly kind: NotSentKind;
  readonly retryAfterMs: number | undefined;

  constructor(kind: NotSentKind, message: string, { retryAfterMs, cause }: NotSentFacts = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}

/** Rejects as `unavailable` when `work` has not ended after `ms`. The work itself continues. */
export async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new NotSent('unavailable', `${what} did not answer within ${ms / 1000} s.`)),
    ms,
  );
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
