import { readFileSync } from 'node:fs';

/** Version of this software, from package.json. */
export const VERSION = versionIn(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const byNumbers = new Intl.Collator('en', { numeric: true });

/** Orders versions numerically, oldest first. A pre-release sorts after its own version and before the next one. */
export function compareVersions(a: string, b: string): number {
  return byNumbers.compare(a, b);
}

function versionIn(text: string): string {
  const { version }: { version?: unknown } = JSON.parse(text);
  if (typeof version !== 'string') throw new Error('package.json has no version');
  return version;
}
