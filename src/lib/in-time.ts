/** Thrown when work did not end before its deadline. */
export class Late extends Error {
  override readonly name = 'Late';
}

/**
 * Resolves or rejects as the work does. The work is not stopped at the deadline, but its result is dropped.
 * @throws Late after `timeoutMs`
 */
export async function inTime<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Late(`no answer in ${timeoutMs} ms`)), timeoutMs);
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
