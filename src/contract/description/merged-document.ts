import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import { child, type Json, type JsonObject, list, METHODS, operationsOf } from '../contracts/document.ts';
import { renamed, renamesBeside } from './renamed-components.ts';

type DescribedContract = Pick<Contract<unknown>, 'name' | 'document'>;

/**
 * Several contracts as the one service that serves them: the paths, tags and components of all. A component whose name
 * is taken by one of other content gets the contract's name in front. OpenAPI version, licence, servers and security are
 * the first contract's, operations of the others say where theirs differs. Extensions at the top, which are about one
 * contract, are left out.
 * @throws Error when two contracts share a path or an operationId.
 */
export function mergedDocument(
  title: string,
  [first, ...more]: readonly [DescribedContract, ...DescribedContract[]],
): JsonObject {
  const { openapi = '3.1.0', info, servers = [], security = [] } = first.document;
  const merged = { paths: {}, components: {}, tags: new Map<string, Json>(), security };
  for (const contract of [first, ...more]) add(merged, contract);
  const descriptions = [first, ...more].map(({ document }) => section(child(document, 'info')));
  return {
    openapi,
    info: { ...(isObject(info) ? info : {}), title, description: descriptions.join('\n\n') },
    servers,
    security,
    tags: [...merged.tags.values()],
    paths: merged.paths,
    components: merged.components,
  };
}

interface MergedDocument {
  readonly paths: JsonObject;
  readonly components: JsonObject;
  readonly tags: Map<string, Json>;
  readonly security: Json;
}

function add(
  { paths, components, tags, security }: MergedDocument,
  { name, document }: DescribedContract,
): void {
  const own = renamed(document, renamesBeside(components, { name, document }));
  refuseTaken({ paths }, own, name);
  for (const [kind, members] of Object.entries(child(own, 'components'))) {
    components[kind] = { ...child(components, kind), ...(isObject(members) ? members : {}) };
  }
  for (const [path, item] of Object.entries(child(own, 'paths'))) {
    paths[path] = isObject(item) ? secured(item, own.security ?? [], security) : item;
  }
  for (const tag of list(own, 'tags')) {
    const key = isObject(tag) ? String(tag.name) : '';
    if (!tags.has(key)) tags.set(key, tag);
  }
}

function refuseTaken(merged: JsonObject, own: JsonObject, name: string): void {
  const held = operationsOf(merged);
  const paths = new Set(held.map(({ path }) => path));
  const ids = new Set(held.map(({ operation }) => operation.operationId));
  for (const { path, operation } of operationsOf(own)) {
    if (paths.has(path)) throw new Error(`${name}: the path ${path} is in another contract too`);
    if (ids.has(operation.operationId)) {
      throw new Error(`${name}: the operation ${operation.operationId} is in another contract too`);
    }
  }
}

/** A path's operations, each saying what it needs where that is not what the merged document says at its top. */
function secured(item: JsonObject, own: Json, top: Json): JsonObject {
  if (isDeepStrictEqual(own, top)) return item;
  return Object.fromEntries(
    Object.entries(item).map(([key, value]) => [
      key,
      METHODS.includes(key) && isObject(value) ? { security: own, ...value } : value,
    ]),
  );
}

function section({ title = '', description = '' }: JsonObject): string {
  return `## ${title}\n\n${description}`.trim();
}
