import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { child, type Json, type JsonObject, operationsOf } from '../../src/contract/contracts/document.ts';
import { jsonLines } from './json-lines.ts';

/**
 * Content of `examples.json`: the recordings of `npm run examples` for a contract's operations and outgoing events. It
 * is a separate file, because only the description needs it.
 */
export async function recordedExamples(contract: string, document: JsonObject): Promise<string> {
  const folder = join('spec', contract, 'examples');
  const ids = [
    ...operationsOf(document).map(({ operation }) => String(operation.operationId)),
    ...Object.keys(child(document, 'webhooks')),
  ];
  const files: string[] = await readdir(folder).catch(() => []);
  const recorded: JsonObject = {};
  for (const id of ids.filter(name => files.includes(`${name}.json`))) {
    const bodies: Json = JSON.parse(await readFile(join(folder, `${id}.json`), 'utf8'));
    recorded[id] = bodies;
  }
  return jsonLines(recorded, 1);
}
