import { existsSync, readdirSync, rmSync } from 'node:fs';
import type { TestProject } from 'vitest/node';

/** Entries of some ten runs; they take 100 MB. */
const MAX_ENTRIES = 15_000;

/**
 * Removes the compile cache of Node once it is large. Each run adds to it, because Vitest loads a test file under another
 * name each time.
 */
export function setup({ config }: TestProject): void {
  const folder = config.env.NODE_COMPILE_CACHE;
  if (folder === undefined || !existsSync(folder)) return;
  const entries = readdirSync(folder, { recursive: true });
  if (entries.length > MAX_ENTRIES) rmSync(folder, { recursive: true, force: true });
}
