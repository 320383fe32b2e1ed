import type { InsightsOperations } from '../contract/contracts/insights.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import type { ResponseCache } from './cache/response-cache.ts';
import { explorerHandlers, type Serve } from './explorer/handler.ts';
import { insights } from './insights/operations.ts';
import { QUERY_TIMEOUT_MS } from './insights/query-answerer.ts';
import { cachedAnswers, type FamilyOptions, uncachedAnswers } from './serve/cached-answers.ts';
import { backendValidities } from './serve/lifetime.ts';

export interface DataHandlersOptions extends FamilyOptions {
  readonly cache: ResponseCache;
  /** As in `explorerHandlers`. */
  readonly staggerMs: number;
  /** Host of the service's public address; see `ConfiguredChains`. */
  readonly publicHost?: string | undefined;
}

/** Handlers of both families over the same chains and one cache. */
export interface DataHandlers {
  /** Makes handlers from the policies of document 1. */
  readonly serve: Serve;
  /** The same, past the cache. */
  readonly serveUncached: Serve;
  readonly insights: Handlers<InsightsOperations>;
  /** Aborts running loads. To be called after the last request. */
  close(): Promise<void>;
}

/** Deadline of a load, as a multiple of one back end's deadline: so many back ends may time out in turn. */
const LOAD_TIMEOUTS = 3;

/** Time of a load beyond that of a query, for the next back end's refusal and for writing the answer. */
const LOAD_MARGIN_MS = 2_000;

/** Creates the handlers of both families. */
export function dataHandlers(options: DataHandlersOptions): DataHandlers {
  const loadTimeoutMs = Math.max(options.timeoutMs * LOAD_TIMEOUTS, QUERY_TIMEOUT_MS + LOAD_MARGIN_MS);
  const validities = backendValidities(options.chains);
  const answers = cachedAnswers({ ...options, validities, loadTimeoutMs });
  const withAnswers = { ...options, answers };
  return {
    serve: explorerHandlers(withAnswers),
    serveUncached: explorerHandlers({ ...options, answers: uncachedAnswers(loadTimeoutMs) }),
    insights: insights(withAnswers),
    close: answers.close,
  };
}
