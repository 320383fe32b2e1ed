import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface BenchReceiver extends AsyncDisposable {
  readonly url: string;
  /** Time of the first arrival of each event, in UTC milliseconds. */
  times(): Promise<ReadonlyMap<string, number>>;
}

/** Starts the receiver of the measurements. */
export async function startReceiver(): Promise<BenchReceiver> {
  const child = fork(fileURLToPath(new URL('./receiver-process.ts', import.meta.url)));
  const [told]: { url: string }[] = await once(child, 'message');
  return {
    url: told?.url ?? '',
    async times() {
      const answer = once(child, 'message');
      child.send('times');
      const [seen]: { times: Record<string, number> }[] = await answer;
      return new Map(Object.entries(seen?.times ?? {}));
    },
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.disconnect();
      await gone;
    },
  };
}
