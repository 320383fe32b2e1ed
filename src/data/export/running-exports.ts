import { HttpError } from '#http/errors.ts';

/** Exports that run at a time, of one client and in a process (Decision 424). */
const MAX_PER_CLIENT = 2;
const MAX_IN_ALL = 8;
const RETRY_AFTER_S = 10;

interface RunningExports {
  /**
   * Counts an export until the returned function is called. `client` is undefined for one that is not counted.
   * @throws HttpError 429 beyond the limit of the client, 503 beyond that of the process
   */
  begin(client: string | undefined): () => void;
}

/** Bounds the exports that run at the same time. */
export function runningExports(): RunningExports {
  const byClient = new Map<string, number>();
  let all = 0;
  return {
    begin(client = '') {
      const own = byClient.get(client) ?? 0;
      if (client !== '' && own >= MAX_PER_CLIENT) throw busy(429, 'Two exports of your address are running');
      if (all >= MAX_IN_ALL) throw busy(503, 'Too many exports are running');
      all += 1;
      byClient.set(client, own + 1);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        all -= 1;
        const left = (byClient.get(client) ?? 1) - 1;
        if (left === 0) byClient.delete(client);
        else byClient.set(client, left);
      };
    },
  };
}

function busy(status: 429 | 503, message: string): HttpError {
  return new HttpError(status, `${message}: wait for one to end`, {
    headers: { 'Retry-After': String(RETRY_AFTER_S) },
  });
}
