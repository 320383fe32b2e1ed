import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';

/** The options of every command that asks the API. */
export const API_OPTIONS = {
  key: { type: 'string' },
  url: { type: 'string', default: 'http://127.0.0.1:3001' },
  help: { type: 'boolean', short: 'h' },
} as const;

/** What the arguments hold; `fault` is a sentence for whoever wrote them. */
export function argumentsOf<
  const Form extends { allowPositionals: boolean; options: ParseArgsOptionsConfig },
>(argv: readonly string[], form: Form) {
  try {
    return parseArgs({ ...form, args: [...argv] });
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Where a command goes, and with which key. `url` has no slash at the end. */
export interface Place {
  readonly url: string;
  readonly key: string;
}

/** The place that the options name; `fault` is a sentence. */
export function placeOf({ key, url }: { key?: string; url: string }): Place | { fault: string } {
  if (key === undefined || key === '') return { fault: '--key is missing' };
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    return { fault: '--url takes the address of a server' };
  return { url: url.replace(/\/+$/, ''), key };
}
