import { appendFileSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from './fingerprint.ts';

const FOLDER = join(ROOT, 'node_modules', '.cache', 'mutants');

/** Records of earlier runs by key, in a file that grows. The last record of a key counts. */
export interface Records<Item> {
  get(key: string): Item | undefined;
  set(key: string, item: Item): void;
}

/** Opens the records with this name. With `isNew`, earlier ones are not read. */
export function openRecords<Item>(name: string, isNew: boolean): Records<Item> {
  const path = join(FOLDER, `${name}.jsonl`);
  mkdirSync(dirname(path), { recursive: true });
  const items = new Map<string, Item>(isNew ? [] : linesOf(path).map(line => JSON.parse(line)));
  return {
    get: key => items.get(key),
    set(key, item) {
      items.set(key, item);
      appendFileSync(path, `${JSON.stringify([key, item])}\n`);
    },
  };
}

function linesOf(path: string): string[] {
  try {
    // A run that was killed may have left half a line.
    return readFileSync(path, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
