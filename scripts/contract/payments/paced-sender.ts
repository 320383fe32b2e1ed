import type { Exchange, RecordingClient } from '../client.ts';

/** The longest single wait, in seconds: a limit is by the minute. */
const LONGEST_WAIT_S = 61;
/** How often a run waits: enough for it with the lowest limit there is. */
const MOST_WAITS = 20;

/** Sends, and after a 429 waits as long as it says and sends again; the 429s are handed out too. */
export function pacedSender(client: RecordingClient, { sleep }: { sleep: (ms: number) => Promise<void> }) {
  let waits = 0;
  return async (...request: Parameters<RecordingClient['send']>): Promise<Exchange[]> => {
    const refusals: Exchange[] = [];
    for (;;) {
      const exchange = await client.send(...request);
      const seconds = exchange.status === 429 ? Number(exchange.headers['retry-after']) : Number.NaN;
      const mayWait = seconds >= 0 && seconds <= LONGEST_WAIT_S && waits < MOST_WAITS;
      if (!mayWait) return [...refusals, exchange];
      refusals.push(exchange);
      waits += 1;
      await sleep(seconds * 1000);
    }
  };
}
