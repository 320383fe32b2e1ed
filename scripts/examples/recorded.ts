import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';

/** Line width of recorded files, as for code. */
const WIDTH = 110;

/** Recorded bodies of one operation by status, or of an outgoing event under `request`. */
export type RecordedExamples = Readonly<Record<string, Json>>;

/**
 * Writes the examples of one contract, one file per operation, and removes files of deleted operations. Returns the
 * paths of the files that changed.
 */
export async function writeExamples(
  contract: string,
  examples: ReadonlyMap<string, RecordedExamples>,
): Promise<string[]> {
  const folder = join('spec', contract, 'examples');
  await mkdir(folder, { recursive: true });
  const changed: string[] = [];
  for (const name of await readdir(folder)) {
    if (examples.has(name.replace(/\.json$/, ''))) continue;
    await rm(join(folder, name));
    changed.push(join(folder, name));
  }
  for (const [id, bodies] of examples) {
    const file = join(folder, `${id}.json`);
    const text = printedJson(bodies);
    if ((await readFile(file, 'utf8').catch(() => undefined)) === text) continue;
    await writeFile(file, text);
    changed.push(file);
  }
  return changed;
}

/**
 * Shortens each list of a response to its fullest record, which shows most of the form. Lists of plain values, and
 * lists within records, stay.
 */
export function shortened(body: Json): Json {
  if (Array.isArray(body)) return fullestRecord(body);
  if (!isObject(body)) return body;
  return Object.fromEntries(
    Object.entries(body).map(([name, member]) => [
      name,
      Array.isArray(member) || name === 'data' ? shortened(member) : member,
    ]),
  );
}

/** Record with the most values; the first of several. */
function fullestRecord(items: Json[]): Json[] {
  if (!items.every(isObject)) return items;
  const counts = items.map(valuesIn);
  const fullest = counts.indexOf(Math.max(...counts));
  return items.filter((_, index) => index === fullest);
}

function valuesIn(value: Json): number {
  if (value === null) return 0;
  if (typeof value !== 'object') return 1;
  return Object.values(value).reduce<number>((sum, member) => sum + valuesIn(member), 0);
}

/** Formats JSON with objects and lists on one line where they fit, so that documents stay readable. */
function printedJson(value: unknown): string {
  return `${printed(value, '')}\n`;
}

function printed(value: unknown, indent: string): string {
  const line = JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || indent.length + line.length <= WIDTH) return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map(member => printed(member, inner))
    : Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${printed(member, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${inner}${members.join(`,\n${inner}`)}\n${indent}${close}`;
}
