import type { Interest, ReportedEvent, TabMessage, WorkerMessage } from './messages.ts';

/** Receiver of what the stream of a browser reports to a tab. */
export interface LiveListener {
  readonly onEvent: (event: ReportedEvent) => void;
  /** `watches` are those that the stream reports; undefined while there is no stream. */
  readonly onStream: (watches: readonly string[] | undefined) => void;
  /** The page returns from the browser's memory, and has missed what happened since. */
  readonly onReturn: () => void;
}

/**
 * Connects to the worker that holds the stream for all tabs of the browser. Returns a function that tells it what the
 * tab shows; undefined in a browser without such workers, as on Android.
 */
export function connectLive(listener: LiveListener): ((interest: Interest) => void) | undefined {
  const worker = startWorker(() => listener.onStream(undefined));
  if (worker === undefined) return undefined;
  const { port } = worker;
  let shown: Interest | undefined;
  const send = (message: TabMessage) => port.postMessage(message);
  port.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
    if (data === 'down') listener.onStream(undefined);
    else if ('open' in data) listener.onStream(data.open);
    else listener.onEvent(data.event);
  };
  addEventListener('pagehide', () => send('leaving'));
  addEventListener('pageshow', ({ persisted }) => {
    if (!persisted || shown === undefined) return;
    listener.onReturn();
    send({ interest: shown });
  });
  return interest => {
    shown = interest;
    send({ interest });
  };
}

function startWorker(onError: () => void): SharedWorker | undefined {
  if (typeof SharedWorker === 'undefined') return undefined;
  try {
    const address = import.meta.resolve('#data/pages/browser/live/live-worker.ts');
    const worker = new SharedWorker(address, { type: 'module', name: 'live' });
    worker.addEventListener('error', onError);
    return worker;
  } catch {
    // A browser may refuse workers, as with blocked storage. The page polls.
    return undefined;
  }
}
