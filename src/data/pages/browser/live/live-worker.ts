import {
  combined,
  concerns,
  covers,
  type Interest,
  type ReportedEvent,
  type TabMessage,
  type WorkerMessage,
} from './messages.ts';
import { readStream, StreamProblem, streamPause } from './stream.ts';

/** Tabs that one worker serves. The one that has said nothing for the longest time polls. */
const MOST_TABS = 100;
/** Time for further tabs and watches to arrive before the stream is opened again. */
const SETTLE_MS = 100;
/** Failures in a row after which tabs poll. */
const PATIENCE = 2;

/** Interests of the tabs, the latest last. */
const tabs = new Map<MessagePort, Interest>();
/** The latest `state` and `head` of each chain, with which another tab begins. */
const latest = new Map<string, ReportedEvent>();
let open: { readonly interest: Interest; readonly leaving: AbortController; isRead: boolean } | undefined;
let cursor: string | undefined;
let failures = 0;
let settling: ReturnType<typeof setTimeout> | undefined;
let retrying: ReturnType<typeof setTimeout> | undefined;

/** One stream for all tabs of a browser, which opens at most six connections to a host over plain HTTP. */
addEventListener('connect', event => {
  const [port] = event instanceof MessageEvent ? event.ports : [];
  if (port === undefined) return;
  port.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data === 'leaving') tabs.delete(port);
    else meet(port, data.interest);
    clearTimeout(settling);
    settling = setTimeout(settle, SETTLE_MS);
  };
});

function meet(port: MessagePort, interest: Interest): void {
  const isNew = !tabs.delete(port);
  tabs.set(port, interest);
  if (isNew) for (const event of latest.values()) if (concerns(interest, event)) send(port, { event });
  if (open?.isRead) send(port, { open: open.interest.watches });
  const [oldest] = tabs.keys();
  if (tabs.size <= MOST_TABS || oldest === undefined) return;
  tabs.delete(oldest);
  send(oldest, 'down');
}

/** Opens the stream that the tabs need, unless the open one has all of it. */
function settle(): void {
  if (tabs.size === 0) {
    open?.leaving.abort();
    open = undefined;
    clearTimeout(retrying);
    retrying = undefined;
    return;
  }
  if (retrying !== undefined) return;
  const wanted = combined([...tabs.values()].reverse());
  if (open !== undefined && covers(open.interest, wanted)) return;
  open?.leaving.abort();
  follow(wanted);
}

async function follow(interest: Interest): Promise<void> {
  const stream = { interest, leaving: new AbortController(), isRead: false };
  open = stream;
  let retryAfterMs = 0;
  try {
    await readStream(
      interest,
      { cursor, signal: stream.leaving.signal },
      {
        onOpen() {
          stream.isRead = true;
          for (const port of tabs.keys()) send(port, { open: interest.watches });
        },
        onEvent({ cursor: next, event }) {
          failures = 0;
          cursor = next;
          if (event.event === 'head' || event.event === 'state')
            latest.set(`${event.event} ${event.chain_id}`, event);
          for (const [port, shown] of tabs) if (concerns(shown, event)) send(port, { event });
        },
      },
    );
  } catch (reason) {
    if (reason instanceof StreamProblem) ({ retryAfterMs } = reason);
  }
  if (stream.leaving.signal.aborted) return;
  failures += 1;
  if (failures >= PATIENCE) for (const port of tabs.keys()) send(port, 'down');
  open = undefined;
  retrying = setTimeout(
    () => {
      retrying = undefined;
      settle();
    },
    streamPause(failures, retryAfterMs, Math.random()),
  );
}

function send(port: MessagePort, message: WorkerMessage): void {
  port.postMessage(message);
}
