import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

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
