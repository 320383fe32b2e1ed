import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Writes a configuration file into a folder of its own and gives its path. */
export function writeConfig(text: string, name = 'tollgate.yaml'): string {
  const file = join(mkdtempSync(join(tmpdir(), 'tollgate-config-')), name);
  writeFileSync(file, text);
  return file;
}
