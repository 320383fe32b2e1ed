import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { Unreadable } from './fields.ts';

/** Who is asked what: it goes into the log as it is. */
export interface RequestContext {
  readonly operation: string;
  /** Name of the back end. */
  readonly backend: string;
  readonly chainId: number | readonly number[];
}

/**
 * What `normalise` makes of an upstream's body; the log says which part it could not read.
 * @throws BackendError `unavailable` for an unreadable one: it goes to nobody half-made.
 */
export function readable<Record>(log: Logger, asked: RequestContext, normalise: () => Record): Record {
  try {
    return normalise();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    log.warn({ ...asked, path: error.path }, 'a record could not be read');
    throw new BackendError('unavailable', 'unreadable', 'its answer could not be read', { cause: error });
  }
}
