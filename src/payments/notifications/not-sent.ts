/** Why a mail or message did not go out, and so what may help. */
type NotSentKind =
  /** The other side does not want it and never will: another address or chat is needed. */
  | 'refused'
  /** The person has blocked the bot. */
  | 'blocked'
  /** Nobody there, or not ready, or our own access is wrong: later it may work. */
  | 'unavailable';

interface NotSentFacts {
  /** How long the other side asks to be left alone, in milliseconds. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
}

/** What mailer and messenger throw. The message names no secret, also when the failure below it does. */
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

/** Rejects as `unavailable` when `work` has not ended after `ms`; the work itself goes on. */
export async function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new NotSent('unavailable', `${what} did not answer within ${ms / 1000} s.`)),
    ms,
  );
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}
