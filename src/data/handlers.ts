import type { InsightsOperations } from '../contract/contracts/insights.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import { type AnswererOptions, answerer, type Serve } from './explorer/handler.ts';
import { insights } from './insights/operations.ts';
import { QUERY_TIMEOUT_MS } from './insights/query-answerer.ts';
import type { InsightsOptions } from './insights/serve-through-cache.ts';
import { type AnsweringOptions, answering } from './serve/cached-answers.ts';
import { backendValidities } from './serve/index-revisions.ts';

export interface DataHandlersOptions
  extends Omit<AnswererOptions, 'answering'>,
    Omit<AnsweringOptions, 'validities' | 'loadTimeoutMs'>,
    Pick<InsightsOptions, 'publicHost'> {}

/** What answers over the same chains, with one cache. */
export interface DataHandlers {
  /** For the rows of document 1. */
  readonly serve: Serve;
  readonly insights: Handlers<InsightsOperations>;
  /** Ends the loads that nobody waits for any more; to be called when requests are not accepted any longer. */
  close(): Promise<void>;
}

/** Deadline of a whole load, as a multiple of one back end's: so many may hang one after another. */
const LOAD_TIMEOUTS = 3;

/** For what comes before and after a query: the next back end's refusal, and writing the answer. */
const LOAD_MARGIN_MS = 2_000;

/** Makes the handlers of both families. */
export function dataHandlers(options: DataHandlersOptions): DataHandlers {
  const answers = answering({
    ...options,
    validities: backendValidities(options.chains),
    loadTimeoutMs: Math.max(options.timeoutMs * LOAD_TIMEOUTS, QUERY_TIMEOUT_MS + LOAD_MARGIN_MS),
  });
  const answered = { ...options, answering: answers };
  return { serve: answerer(answered), insights: insights(answered), close: answers.close };
}
