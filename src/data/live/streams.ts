import { randomInt } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Clock } from '#lib/clock.ts';
import type { CountedClient } from '#lib/request-counters.ts';
import { HttpError } from '../../http/errors.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { ChainFeed } from './chain-feed.ts';
import { type ChainPosition, type LivePositions, liveCursor } from './live-cursor.ts';
import type { Watch } from './watch.ts';
import type { ChainListener } from './watch-list.ts';

/** Limits of streams (Decision 407). */
export interface StreamLimits {
  /** Open streams of a client address. Clients without a rate limit have none. */
  readonly streamsPerClient: number;
  /** Open streams of the process. */
  readonly streams: number;
  /** Bytes that a client may leave unread; 256 kB when absent. */
  readonly unreadBytes?: number;
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = { streamsPerClient: 20, streams: 5_000 };

const MAX_UNREAD = 256 * 1024;
const KEEP_ALIVE_MS = 15_000;
const KEEP_ALIVE = ':\n\n';
/** Suggested delay of a reconnection, and its spread after a stop, in milliseconds. */
const RETRY_MS = 1_000;
const RETRY_SPREAD_MS = 3_000;
const RETRY_AFTER_S = 5;

/** Subjects of a stream. */
interface StreamRequest {
  readonly chains: readonly { readonly feed: ChainFeed; readonly chainId: number }[];
  readonly watches: readonly Watch[];
  readonly since: LivePositions;
  readonly client: CountedClient | undefined;
}

/** The open streams of a process. */
export interface Streams {
  /** @throws HttpError 429 or 503 beyond a limit */
  open(request: StreamRequest): Readable;
  /** Ends every stream, so that clients reconnect elsewhere, and refuses further ones. */
  end(): void;
}

export function streams({
  limits,
  metrics,
  clock,
  isLeaving = () => false,
}: {
  limits: StreamLimits;
  metrics: Pick<Metrics, 'openStreams' | 'droppedStream'>;
  clock: Clock;
  isLeaving?: (() => boolean) | undefined;
}): Streams {
  const { unreadBytes = MAX_UNREAD } = limits;
  const all = new Set<{ readonly readable: Readable; finish(retryMs?: number): void }>();
  const perClient = new Map<string, number>();
  let isEnding = false;
  let beating: AbortController | undefined;

  function admit(client: CountedClient | undefined): void {
    const headers = { 'Retry-After': String(RETRY_AFTER_S) };
    if (isEnding || isLeaving()) throw new HttpError(503, 'The service is stopping', { headers });
    if (all.size >= limits.streams)
      throw new HttpError(503, 'This process has too many open streams', { headers });
    const most = limits.streamsPerClient;
    if (client !== undefined && (perClient.get(client.key) ?? 0) >= most)
      throw new HttpError(429, `${most} streams are open from your address, which is the limit`, { headers });
  }

  /** Adds `change` to the open streams of a client. */
  function count(client: CountedClient | undefined, change: 1 | -1): void {
    metrics.openStreams(change);
    if (client === undefined) return;
    const open = (perClient.get(client.key) ?? 0) + change;
    if (open > 0) perClient.set(client.key, open);
    else perClient.delete(client.key);
  }

  /** Sends comments while there are streams, so that proxies do not close them. */
  async function beat(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(KEEP_ALIVE_MS, signal);
      for (const { readable } of all) readable.push(KEEP_ALIVE);
    }
  }

  return {
    open({ chains, watches, since, client }) {
      admit(client);
      const positions = new Map<number, ChainPosition>(
        chains.flatMap(({ chainId }) => {
          const position = since.get(chainId);
          return position === undefined ? [] : [[chainId, position] as const];
        }),
      );
      const readable = new Readable({ read: () => undefined, highWaterMark: unreadBytes });
      const listeners = chains.map(({ feed, chainId }) => ({ feed, chainId, listener: listenerOf(chainId) }));
      let isOpen = true;
      const stream = { readable, finish };
      all.add(stream);
      count(client, 1);
      if (beating === undefined) {
        beating = new AbortController();
        beat(beating.signal).catch(() => undefined);
      }
      readable.push(`retry: ${RETRY_MS}\n\n`);
      readable.once('close', () => {
        leave();
        count(client, -1);
      });
      for (const { feed, chainId, listener } of listeners) void feed.join(listener, since.get(chainId));
      return readable;

      function listenerOf(chainId: number): ChainListener {
        return {
          watches: watches.filter(watch => watch.chainId === chainId),
          send: (lines, position) => send(chainId, lines, position),
          end: () => finish(),
          charge: ms => client?.charge(ms),
        };
      }

      function send(chainId: number, lines: readonly string[], position: ChainPosition | undefined): void {
        if (!isOpen) return;
        const before = `id: ${liveCursor(positions)}\n`;
        if (position !== undefined) positions.set(chainId, position);
        const after = `id: ${liveCursor(positions)}\n`;
        const last = lines.length - 1;
        readable.push(lines.map((text, index) => (index === last ? after : before) + text).join(''));
        if (readable.readableLength <= unreadBytes) return;
        metrics.droppedStream();
        finish();
      }

      /** Ends the stream once the client has read what was sent. */
      function finish(retryMs?: number): void {
        if (!isOpen) return;
        leave();
        if (retryMs !== undefined) readable.push(`retry: ${retryMs}\n\n`);
        readable.push(null);
      }

      function leave(): void {
        isOpen = false;
        all.delete(stream);
        for (const { feed, listener } of listeners) feed.leave(listener);
        if (all.size > 0) return;
        beating?.abort();
        beating = undefined;
      }
    },
    end() {
      isEnding = true;
      for (const stream of [...all]) stream.finish(RETRY_MS + randomInt(RETRY_SPREAD_MS));
    },
  };
}
