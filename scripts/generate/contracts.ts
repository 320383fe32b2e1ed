import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from './document.ts';
import { recordedExamples } from './examples.ts';
import { withFieldLists } from './field-lists.ts';
import { withDefaults, withIntegerFormats } from './fields.ts';
import { jsonLines } from './json-lines.ts';
import { operationTable } from './operations.ts';
import { typesOf } from './types.ts';
import { bodyValidators, parameterValidators, VALIDATOR_TYPES } from './validators.ts';

/** Generates all files of the OpenAPI contracts, by path from the project's root. */
export async function generateContracts(): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for (const entry of await readdir('spec', { recursive: true })) {
    if (!entry.endsWith('openapi.yaml')) continue;
    const contract = entry.split(/[\\/]/)[0] ?? '';
    const document = withFieldLists(await bundle(join('spec', entry)));
    const add = (name: string, content: string) => files.set(`generated/${contract}/${name}`, content);
    add('openapi.json', jsonLines(withIntegerFormats(document), 3));
    add('examples.json', await recordedExamples(contract, document));
    add('types.ts', await typesOf(withDefaults(document)));
    add('operations.ts', operationTable(document));
    add('validators.cjs', parameterValidators(document));
    add('validators.d.cts', VALIDATOR_TYPES);
    const bodies = bodyValidators(withDefaults(document));
    if (bodies !== undefined) {
      add('bodies.cjs', bodies);
      add('bodies.d.cts', VALIDATOR_TYPES);
    }
  }
  return files;
}
