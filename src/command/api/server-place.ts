import { UsageError } from '#lib/command-line.ts';

/** The options of every command that asks the API. */
export const API_OPTIONS = {
  key: { type: 'string' },
  url: { type: 'string', default: 'http://127.0.0.1:3001' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** Address of a server, and the API key to use there. `url` has no slash at the end. */
export interface ServerPlace {
  readonly url: string;
  readonly key: string;
}

/** The server that the options name. @throws UsageError */
export function placeOf({ key, url }: { key?: string; url: string }): ServerPlace {
  if (key === undefined || key === '') throw new UsageError('--key is missing');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new UsageError('--url takes the address of a server');
  return { url: url.replace(/\/+$/, ''), key };
}
