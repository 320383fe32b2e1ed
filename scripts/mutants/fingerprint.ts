import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };

/** Root of the project. */
export const ROOT = join(import.meta.dirname, '..', '..');

export function fingerprint(parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** Fingerprint of the contents of files, which are relative to the root. */
export function fingerprintOfFiles(files: readonly string[]): string {
  return fingerprint(files.flatMap(file => [file, readFileSync(join(ROOT, file), 'latin1')]));
}

/** A source as it was first read. Vitest keeps it in memory for as long. */
interface Source {
  readonly fingerprint: string;
  /** Files that it names, usually in imports. Relative to the root. */
  readonly named: readonly string[];
}

const known = new Map<string, Source>();
const NAMED = /['"]((?:\.{1,2}\/|#)[^'"\n]+\.tsx?)['"]/g;

/** Fingerprint of a file, and of every source that it imports directly or through others. */
export function fingerprintWithImports(file: string): string {
  const files = new Set([file]);
  for (const one of files) for (const named of sourceOf(one).named) files.add(named);
  return fingerprint([...files].sort().flatMap(one => [one, sourceOf(one).fingerprint]));
}

function sourceOf(file: string): Source {
  const before = known.get(file);
  if (before !== undefined) return before;
  const text = readFileSync(join(ROOT, file), 'latin1');
  const paths = [...text.matchAll(NAMED)].map(([, path = '']) => pathOf(file, path));
  const source = {
    fingerprint: fingerprint([text]),
    named: paths.filter(path => existsSync(join(ROOT, path))),
  };
  known.set(file, source);
  return source;
}

/** Path of a named file, relative to the root. */
function pathOf(from: string, path: string): string {
  if (!path.startsWith('#')) return join(from, '..', path);
  const [folder = ''] = path.split('/');
  const target = Object.entries(packageJson.imports).find(([name]) => name === `${folder}/*`)?.[1] ?? path;
  return join(target.replace('/*', path.slice(folder.length)));
}
