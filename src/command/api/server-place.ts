import { type Environment, readEnvironment } from '#config/environment.ts';
import { UsageError } from '#lib/command-line.ts';

/** Options of every command that calls the API. */
export const API_OPTIONS = {
  key: { type: 'string' },
  url: { type: 'string', default: 'http://127.0.0.1:3001' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Address of a server, and the API key to use there. `url` has no trailing slash. */
export interface ServerPlace {
  readonly url: string;
  readonly key: string;
}

/**
 * Server that the options name. The key is best passed in the environment, because every user of a machine can read the
 * arguments of its processes.
 * @throws UsageError
 */
export function placeOf(
  { key: option, url }: { key?: string; url: string },
  { apiKey }: Pick<Environment, 'apiKey'> = readEnvironment(),
): ServerPlace {
  const key = option || apiKey;
  if (key === undefined) throw new UsageError('the API key is missing: set TOLLGATE_KEY');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError('--url takes the address of a server');
  return { url: url.replace(/\/+$/, ''), key };
}
