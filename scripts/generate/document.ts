import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  child,
  type Json,
  type JsonObject,
  list,
  METHODS,
  operationsOf,
  resolve,
} from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';

const run = promisify(execFile);

/** Bundles an OpenAPI file with everything it refers to, without operations marked `x-planned`. */
export async function bundle(file: string): Promise<JsonObject> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bundle-'));
  try {
    const output = join(folder, 'openapi.json');
    await run(
      process.execPath,
      [join('node_modules', '@redocly', 'cli', 'bin', 'cli.js'), 'bundle', file, '-o', output],
      {
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      },
    );
    const parsed: Json = JSON.parse(await readFile(output, 'utf8'));
    if (!isObject(parsed)) throw new Error(`${file} is not an object`);
    return prune(withoutPlanned(parsed));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function withoutPlanned(document: JsonObject): JsonObject {
  const paths: JsonObject = {};
  for (const [path, item] of Object.entries(child(document, 'paths'))) {
    if (!isObject(item)) continue;
    const kept = Object.entries(item).filter(
      ([, value]) => !(isObject(value) && value['x-planned'] === true),
    );
    if (kept.some(([key]) => METHODS.includes(key))) paths[path] = Object.fromEntries(kept);
  }
  return { ...document, paths };
}

/** Removes unreferenced components and tags. */
function prune(document: JsonObject): JsonObject {
  const reached = new Set<string>();
  const visit = (value: Json | undefined): void => {
    if (Array.isArray(value)) value.forEach(visit);
    else if (isObject(value)) {
      if (typeof value.$ref === 'string' && !reached.has(value.$ref)) {
        reached.add(value.$ref);
        visit(resolve(document, value));
      }
      Object.values(value).forEach(visit);
    }
  };
  visit(document.paths);
  visit(document.webhooks);
  const components = Object.entries(child(document, 'components')).map(([kind, members]): [string, Json] => [
    kind,
    kind === 'securitySchemes' || !isObject(members)
      ? members
      : Object.fromEntries(
          Object.entries(members).filter(([name]) => reached.has(`#/components/${kind}/${name}`)),
        ),
  ]);
  const usedTags = new Set(operationsOf(document).flatMap(({ operation }) => list(operation, 'tags')));
  const tags = list(document, 'tags').filter(tag => isObject(tag) && usedTags.has(tag.name ?? null));
  return { ...document, tags, components: Object.fromEntries(components) };
}
