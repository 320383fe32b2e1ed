/** Thrown when work did not end before its deadline. */
export class Late extends Error {
  override readonly name = 'Late';
}

/**
 * Resolves or rejects as the work does. The work is not stopped at the deadline, but its result is dropped. A reply
 * that arrived while the event loop was blocked still counts, although timers run before sockets are read.
 * @throws Late after `timeoutMs`
 */
export async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Late(`no answer in ${timeoutMs} ms`));
  // Two timers in a row: while the event loop is blocked, at most one of them expires, so a delayed reply still has the
  // time of the second. The immediate runs after sockets are read.
  let timer = setTimeout(() => {
    timer = setTimeout(() => setImmediate(late), timeoutMs / 2);
  }, timeoutMs / 2);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ignores a missed deadline. @throws any other failure */
export function unlessLate(error: unknown): void {
  if (!(error instanceof Late)) throw error;
}
