import type { ExplorerOperations } from '#contract/contracts/explorer.ts';
import type { Handlers } from '#contract/contracts/operations.ts';
import { InvalidParameter } from '#contract/contracts/violations.ts';
import type { ClockAndLog } from '#lib/logger.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { Backend } from '../backends/port/backend.ts';
import type { Chain } from '../fallback/chain.ts';
import { chainFeed } from './chain-feed.ts';
import { readLiveCursor } from './live-cursor.ts';
import { remoteSource } from './remote-source.ts';
import { DEFAULT_STREAM_LIMITS, type StreamLimits, streams } from './streams.ts';
import { watchesIn } from './watch.ts';

/** Most chains of a stream (Decision 406). */
const MAX_CHAINS = 20;
/** Form of a cursor, as the contract has it for the parameter. */
const CURSOR = /^[A-Za-z0-9_-]{1,4096}$/;
const HEADERS = { 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no' };

/** Settings of streams of live events. */
export interface LiveSettings extends StreamLimits {
  /** Pause between two looks at a back end of another service, in milliseconds; 5 s when absent. */
  readonly remotePollMs?: number;
}

export interface LiveOptions extends ClockAndLog {
  readonly chains: readonly Chain[];
  /** The default limits when absent. */
  readonly settings?: LiveSettings | undefined;
  readonly metrics: Metrics;
  readonly isLeaving?: (() => boolean) | undefined;
}

/** Stream of live events, with what runs for it. */
export interface Live {
  readonly streamLive: Handlers<ExplorerOperations>['streamLive'];
  /** Ends every stream. To be called when the listener begins to drain. */
  end(): void;
  /** Stops following the chains. To be called before their back ends are closed. */
  stop(): Promise<void>;
}

export function liveEvents(options: LiveOptions): Live {
  const { chains, settings = DEFAULT_STREAM_LIMITS, metrics, clock, log, isLeaving } = options;
  const { remotePollMs }: Partial<LiveSettings> = settings;
  const sourceOf = (backend: Backend) => backend.live ?? remoteSource(backend, remotePollMs);
  const feeds = new Map(chains.map(chain => [chain.id, chainFeed({ chain, sourceOf, clock, log })]));
  const open = streams({ limits: settings, metrics, clock, isLeaving });

  return {
    async streamLive({ query }, { headers, client }) {
      const { chain_id: asked = chains.slice(0, MAX_CHAINS).map(({ id }) => id), watch = [] } = query;
      const selected = [...new Set(asked)].map(chainId => {
        const feed = feeds.get(chainId);
        if (feed === undefined) throw unknownChain('chain_id');
        return { chainId, feed };
      });
      const watches = watchesIn(watch);
      if (watches.some(({ chainId }) => !selected.some(one => one.chainId === chainId)))
        throw new InvalidParameter('watch', 'must name a chain of the stream');
      const since = positionsIn(headers['last-event-id'], query.cursor);
      return {
        status: 200,
        headers: HEADERS,
        body: open.open({ chains: selected, watches, since, client }),
      };
    },
    end: open.end,
    stop: async () => void (await Promise.all([...feeds.values()].map(feed => feed.stop()))),
  };

  function unknownChain(parameter: string): InvalidParameter {
    const configured = chains.map(({ id }) => id).join(', ');
    return new InvalidParameter(parameter, `must be one of the configured chains ${configured}`);
  }
}

/** Positions of a cursor; of the header if there is one, because browsers repeat the address (Decision 409). */
function positionsIn(header: string | string[] | undefined, cursor: string | undefined) {
  const isHeader = header !== undefined && header !== '';
  const token = isHeader ? String(header) : cursor;
  if (token === undefined) return new Map<number, never>();
  const positions = CURSOR.test(token) ? readLiveCursor(token) : undefined;
  if (positions === undefined)
    throw new InvalidParameter(
      isHeader ? 'Last-Event-ID' : 'cursor',
      'must be the id of an event of this stream',
    );
  return positions;
}
