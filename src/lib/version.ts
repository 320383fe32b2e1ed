import { readFileSync } from 'node:fs';

/** Version of this software, as its package says. */
export const VERSION = versionIn(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

function versionIn(text: string): string {
  const { version }: { version?: unknown } = JSON.parse(text);
  if (typeof version !== 'string') throw new Error('package.json has no version');
  return version;
}
