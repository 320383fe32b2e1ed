import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EQUIVALENT } from './equivalent.ts';
import { fingerprint, ROOT } from './fingerprint.ts';
import { type Mutation, mutationsOf } from './mutations.ts';
import type { Room } from './rooms.ts';

/** A mutation with its place. */
export interface Site extends Mutation {
  readonly file: string;
  /** The first line of the original, without indentation. */
  readonly line: string;
  /** The same while the line is the same, wherever it is in its file. */
  readonly key: string;
}

/** All sites of a source file. */
export function sitesOf(file: string, text: string): Site[] {
  const lines = text.split('\n');
  const seen = new Map<string, number>();
  return mutationsOf(file, text).map(mutation => {
    const line = (lines[mutation.lineNumber - 1] ?? '').trim();
    const identity = JSON.stringify([file, line, mutation.original, mutation.replacement]);
    const before = seen.get(identity) ?? 0;
    seen.set(identity, before + 1);
    return { ...mutation, file, line, key: fingerprint([identity, String(before)]) };
  });
}

/**
 * All sites in the order of a sample: its first N are the sample of N. The order depends on the seed and the key of
 * each site, so a change of one line leaves the rest of the sample as it was.
 */
export function drawn<Item extends Pick<Site, 'key'>>(sites: readonly Item[], seed: number): Item[] {
  return sites
    .map(site => ({ site, rank: fingerprint([String(seed), site.key]) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ site }) => site);
}

/** Sites of all sources of a room. */
export function sitesOfRoom({ sources }: Room): Site[] {
  return filesBelow(sources)
    .filter(file => file.endsWith('.ts'))
    .flatMap(file => sitesOf(file, readFileSync(join(ROOT, file), 'utf8')));
}

/** True when a site is listed as one that no test can catch. */
export function isEquivalent(site: Site): boolean {
  return EQUIVALENT.some(
    ({ file, line, original, replacement }) =>
      file === site.file &&
      line === site.line &&
      original === site.original &&
      replacement === site.replacement,
  );
}

/** Files below a folder, relative to the root, in alphabetical order. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .sort();
}
