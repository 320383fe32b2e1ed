import type { Metrics } from '../http/metrics.ts';
import type { Clock } from '../lib/clock.ts';
import { toJson } from '../lib/json.ts';
import type { Logger } from '../lib/logger.ts';
import { represent } from '../lib/representation.ts';
import type { Entry } from './cache/entry.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { singleFlight } from './cache/single-flight.ts';
import { askChain } from './chains/ask-chain.ts';
import { type Locations, locations } from './chains/locations.ts';
import { type Found, NothingFound } from './chains/outcome.ts';
import { type Lifetimes, lifetimeOf } from './lifetime.ts';
import { observed } from './observer.ts';
import type { BodyOf, OperationId, RequestOf } from './port/backend.ts';
import type { Row } from './row.ts';
import type { Selection } from './selection.ts';

export interface LoaderOptions {
  readonly cache: ResponseCache;
  readonly lifetimes: Lifetimes;
  /** How long one back end may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly staggerMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** What is to be loaded, and under which key it is kept. */
export interface Load<Id extends OperationId> {
  readonly id: Id;
  readonly row: Row;
  readonly request: RequestOf<Id> & { path: object };
  readonly selection: Selection;
  readonly key: string;
  /** The answer that is held under this key, past its life or to be made again. */
  readonly held: Entry | undefined;
  /** A client asked for it to be made again: a load that is under way is not what it wants. */
  readonly forced: boolean;
}

export interface Loaded {
  readonly entry: Entry;
  /** Whether the cache keeps it. */
  readonly stored: boolean;
}

export interface Loader {
  /** Everybody who asks for the same thing meanwhile gets the same outcome. Rejects with NothingFound. */
  load<Id extends OperationId>(wanted: Load<Id>): Promise<Loaded>;
  /** Aborts the loads under way, whoever wants them, and resolves when the last one has ended. */
  close(): Promise<void>;
}

/** Deadline of a whole load, as a multiple of one back end's: so many may hang one after another. */
const LOAD_TIMEOUTS = 3;

/**
 * Makes answers from chains and back ends, one load per key at a time, and keeps them. A load has its own deadline, so
 * that a client hanging up fails nobody else.
 */
export function loader(options: LoaderOptions): Loader {
  const flight = singleFlight<Loaded>();
  const deps: Deps = { ...options, places: locations(options.clock) };
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();

  return {
    load(wanted) {
      const { key, selection, forced } = wanted;
      return flight(`${key} ${momentOf(selection)} ${forced}`, () => {
        const signal = AbortSignal.any([
          closing.signal,
          AbortSignal.timeout(options.timeoutMs * LOAD_TIMEOUTS),
        ]);
        const loading = makeAndKeep(deps, wanted, signal);
        running.add(loading);
        return loading.finally(() => running.delete(loading));
      });
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

/** Whoever asks after a block has become visible does not join a load from before it. */
function momentOf({ chains }: Selection): string {
  return chains
    .flatMap(({ backends }) => backends.map(backend => backend.validity?.().revision ?? ''))
    .join();
}

interface Deps extends LoaderOptions {
  readonly places: Locations;
}

async function makeAndKeep<Id extends OperationId>(
  deps: Deps,
  wanted: Load<Id>,
  signal: AbortSignal,
): Promise<Loaded> {
  const { clock, cache, lifetimes } = deps;
  const { id, row, key, held } = wanted;
  const found = await find(deps, wanted, signal);
  if (held !== undefined && row.isNothing?.(found.answer.body) === true && isNoNews(found, held))
    throw new NothingFound(found.passedOver);
  const representation = await represent(toJson(found.answer.body));
  const entry: Entry = {
    representation,
    chainId: found.chain.id,
    backend: found.backend.name,
    ...lifetimeOf(id, row, found, lifetimes, clock.now()),
  };
  return { entry, stored: await cache.set(key, entry) };
}

/** While the chain is out that had something, the empty page of another one does not say that it is gone. */
function isNoNews<Body>({ chain, passedOver }: Found<Body>, held: Entry): boolean {
  const kinds = passedOver
    .filter(failure => failure.chain.id === held.chainId)
    .map(failure => failure.error.kind);
  return chain.id !== held.chainId && kinds.includes('unavailable') && !kinds.includes('not_found');
}

function find<Id extends OperationId>(
  { clock, staggerMs, timeoutMs, metrics, log, places }: Deps,
  { id, row, request, selection }: Load<Id>,
  signal: AbortSignal,
): Promise<Found<BodyOf<Id>>> {
  const { chains, position } = selection;
  const strategy = row.strategyFor(request.path);
  const hash = row.hashOf?.(request.path);
  const way = hash === undefined ? strategy : places.through(strategy, hash);
  return way<BodyOf<Id>>({
    chains,
    staggerMs,
    clock,
    signal,
    isNothing: body => position === undefined && row.isNothing?.(body) === true,
    askChain: (chain, until) =>
      askChain(
        chain,
        (backend, untilTimeout) => {
          const answer = backend.answers[id];
          if (answer === undefined) return undefined;
          const ask = position === undefined ? { signal: untilTimeout } : { signal: untilTimeout, position };
          return observed({ metrics, log }, backend, answer(request, ask));
        },
        { signal: until, timeoutMs },
      ),
  });
}
