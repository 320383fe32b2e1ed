import type { Logger } from '../lib/logger.ts';

/**
 * What knex has to say, as its `log` option: by itself it writes to the console. What fails it says as well as throws,
 * so without a logger nothing is lost.
 */
export function driverLog(log: Logger | undefined) {
  const warn = (message: unknown) => log?.warn({ detail: String(message) }, 'the database driver warns');
  return { warn, error: warn, deprecate: warn, debug: () => undefined };
}
