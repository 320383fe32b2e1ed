import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Writes a configuration file into its own folder, which is removed after the test; returns its path. */
export function writeConfig(text: string, name = 'tollgate.yaml'): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}
