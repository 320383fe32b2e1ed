import { type AnswererOptions, answerer, type Serve } from './answer.ts';
import { type AnsweringOptions, answering } from './answering.ts';
import { backendValidities } from './validities.ts';

export interface DataHandlersOptions
  extends Omit<AnswererOptions, 'answering'>,
    Omit<AnsweringOptions, 'validities' | 'loadTimeoutMs'> {}

/** What answers over the same chains, with one cache. */
export interface DataHandlers {
  readonly serve: Serve;
  /** Ends the loads that nobody waits for any more; to be called when requests are not accepted any longer. */
  close(): Promise<void>;
}

/** Deadline of a whole load, as a multiple of one back end's: so many may hang one after another. */
const LOAD_TIMEOUTS = 3;

/** Makes the handlers of both families. */
export function dataHandlers(options: DataHandlersOptions): DataHandlers {
  const answers = answering({
    ...options,
    validities: backendValidities(options.chains),
    loadTimeoutMs: options.timeoutMs * LOAD_TIMEOUTS,
  });
  return { serve: answerer({ ...options, answering: answers }), close: answers.close };
}
