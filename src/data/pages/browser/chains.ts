import type { components } from '#generated/data-service/types.ts';
import { grouped } from '#pages/browser/amounts.ts';
import type { Renewal } from '#pages/browser/answer.ts';
import type { Tone } from '#pages/browser/layout.ts';
import { headOf } from './live/live-state.ts';
import { pageFeed } from './live/page-feed.ts';

export type Chain = components['schemas']['ConfiguredChain'];
const MINUTE_MS = 60_000;

export type ChainBackend = components['schemas']['ChainBackend'];

/**
 * Renewal for data that changes with blocks: at each new block, and without a stream at an interval too, because an
 * answer may come from the cache.
 */
export function atNewBlocks(chain: Chain): Renewal {
  const { streamed, resets } = pageFeed();
  return {
    everyMs: streamed === undefined ? 15_000 : undefined,
    version: `${headOf(chain)} ${resets.get(chain.id) ?? 0}`,
  };
}

/** Renewal once a minute, with a stream only while there are new blocks. */
export function atNewMinutes(): Renewal {
  if (pageFeed().streamed === undefined) return { everyMs: MINUTE_MS };
  return { version: Math.floor(Date.now() / MINUTE_MS) };
}

/** True when a back end may answer for the chain: it has a block, or it is a remote service that was not asked yet. */
export function hasAnswers({ backends }: Chain): boolean {
  return backends.some(({ head, kind, ready }) => head !== null || (kind !== 'index' && ready));
}

/** True when a back end of the chain supports the operation. */
export function canAnswer({ backends }: Chain, operationId: string): boolean {
  return backends.some(({ capabilities }) => capabilities.includes(operationId));
}

/** State of a back end in words, with the tone of its badge. */
export function stateOf({
  ready,
  head,
  lag,
  kind,
  stalled,
}: ChainBackend): readonly [tone: Tone, words: string] {
  if (stalled) return ['bad', lag === null ? 'stalled, node unreachable' : `stalled, ${grouped(lag)} behind`];
  if (ready) return lag === null || lag === 0 ? ['good', 'up to date'] : ['good', `${grouped(lag)} behind`];
  if (kind !== 'index') return ['bad', 'unavailable'];
  if (head === null) return ['busy', 'waiting for its first block'];
  return lag === null ? ['bad', 'node unreachable'] : ['busy', `catching up, ${grouped(lag)} to go`];
}

/** Blocks that an index has, and blocks in total; undefined when it is not behind or its state is unknown. */
export function progressOf({ ready, head, lag }: ChainBackend): { done: number; all: number } | undefined {
  if (ready || head === null || lag === null || lag === 0) return undefined;
  return { done: head + 1, all: head + 1 + lag };
}
