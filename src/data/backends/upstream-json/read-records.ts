import type { Logger } from '#lib/logger.ts';
import { BackendError } from '../port/backend-error.ts';
import { Unreadable } from './fields.ts';

/** Back end whose records are read, with the fields that the log shows. */
interface RecordSource {
  readonly log: Logger;
  readonly name: string;
  readonly chainId: number | readonly number[];
}

/**
 * Runs `normalise` on an upstream's body and logs the path of an unreadable value.
 * @throws BackendError `unavailable` for an unreadable body. An incomplete record is never returned.
 */
export function readRecord<Record>(
  { log, name, chainId }: RecordSource,
  operation: string,
  normalise: () => Record,
): Record {
  try {
    return normalise();
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    log.warn({ operation, chainId, backend: name, path: error.path }, 'the record is unreadable');
    throw new BackendError('unavailable', 'unreadable', 'its answer could not be read', { cause: error });
  }
}
