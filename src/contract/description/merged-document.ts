import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../lib/json.ts';
import type { Contract } from '../contracts/contract.ts';
import {
  child,
  type Json,
  type JsonObject,
  list,
  METHODS,
  mapObjects,
  operationsOf,
} from '../contracts/document.ts';

type DescribedContract = Pick<Contract<unknown>, 'name' | 'document'>;

/**
 * Merges contracts into the description of the service that serves them: paths, webhooks, tags and components. A
 * component whose name is taken by a different one gets the contract's name as a prefix. OpenAPI version, licence,
 * servers and security come from the first contract; operations of the others state their own security where it
 * differs. Top-level extensions are dropped, because they concern one contract.
 * @throws Error when two contracts share a path or an operationId.
 */
export function mergedDocument(
  title: string,
  [first, ...more]: readonly [DescribedContract, ...DescribedContract[]],
): JsonObject {
  const { openapi = '3.1.0', info, servers = [], security = [] } = first.document;
  const merged = { paths: {}, webhooks: {}, components: {}, tags: new Map<string, Json>(), security };
  for (const contract of [first, ...more]) add(merged, contract);
  const descriptions = [first, ...more].map(({ document }) => section(child(document, 'info')));
  return {
    openapi,
    info: { ...(isObject(info) ? info : {}), title, description: descriptions.join('\n\n') },
    servers,
    security,
    tags: [...merged.tags.values()],
    paths: merged.paths,
    ...(Object.keys(merged.webhooks).length === 0 ? {} : { webhooks: merged.webhooks }),
    components: merged.components,
  };
}

interface MergedDocument {
  readonly paths: JsonObject;
  readonly webhooks: JsonObject;
  readonly components: JsonObject;
  readonly tags: Map<string, Json>;
  readonly security: Json;
}

function add(
  { paths, webhooks, components, tags, security }: MergedDocument,
  { name, document }: DescribedContract,
): void {
  const own = renamed(document, renamesNextTo(components, { name, document }));
  refuseTaken({ paths }, own, name);
  for (const [kind, members] of Object.entries(child(own, 'components'))) {
    components[kind] = { ...child(components, kind), ...(isObject(members) ? members : {}) };
  }
  for (const [path, item] of Object.entries(child(own, 'paths'))) {
    paths[path] = isObject(item) ? secured(item, own.security ?? [], security) : item;
  }
  Object.assign(webhooks, child(own, 'webhooks'));
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

/** Adds the contract's security to a path's operations when it differs from the merged document's. */
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

/** Old component references (`#/components/<kind>/<name>`) mapped to new ones. */
type Renames = ReadonlyMap<string, string>;

/**
 * Finds the components to rename: those whose name is `held` with different content, and those that refer to a renamed
 * component. The new name begins with the contract's.
 */
function renamesNextTo(
  held: JsonObject,
  { name: contract, document }: { name: string; document: JsonObject },
): Renames {
  const own = componentsOf(document);
  const namesakes = own.filter(({ kind, name }) => Object.hasOwn(child(held, kind), name));
  const clashing = new Map<string, string>();
  let before = -1;
  while (clashing.size > before) {
    before = clashing.size;
    for (const { kind, name, content } of namesakes) {
      const isSame = isDeepStrictEqual(content, child(held, kind)[name]) && !mentions(content, clashing);
      if (!isSame) clashing.set(reference(kind, name), reference(kind, `${capitalised(contract)}${name}`));
    }
  }
  for (const { kind, name } of own) {
    const meant = [...clashing.values()].includes(reference(kind, name));
    if (meant)
      throw new Error(`${contract}: the component ${kind}/${name} has the name that another one needs`);
  }
  return clashing;
}

/** Copies a document with renamed components, references and security requirements. */
function renamed(document: JsonObject, renames: Renames): JsonObject {
  const components: JsonObject = {};
  for (const { kind, name, content } of componentsOf(document)) {
    components[kind] = { ...child(components, kind), [newName(renames, kind, name)]: content };
  }
  const copy = mapObjects({ ...document, components }, object => rewritten(object, renames));
  return isObject(copy) ? copy : {};
}

function rewritten(object: JsonObject, renames: Renames): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, Json] => {
    if (typeof value === 'string') return [key, renames.get(value) ?? value];
    return key === 'security' && Array.isArray(value)
      ? [key, value.map(requirement => rekeyed(requirement, renames))]
      : [key, value];
  });
  return Object.fromEntries(entries);
}

function rekeyed(requirement: Json, renames: Renames): Json {
  if (!isObject(requirement)) return requirement;
  return Object.fromEntries(
    Object.entries(requirement).map(([scheme, roles]) => [
      newName(renames, 'securitySchemes', scheme),
      roles,
    ]),
  );
}

function componentsOf(document: JsonObject): { kind: string; name: string; content: Json }[] {
  return Object.entries(child(document, 'components')).flatMap(([kind, members]) =>
    isObject(members) ? Object.entries(members).map(([name, content]) => ({ kind, name, content })) : [],
  );
}

function mentions(content: Json, renames: Renames): boolean {
  if (typeof content === 'string') return renames.has(content);
  if (typeof content !== 'object' || content === null) return false;
  return Object.values(content).some(member => mentions(member, renames));
}

function newName(renames: Renames, kind: string, name: string): string {
  return renames.get(reference(kind, name))?.split('/').at(-1) ?? name;
}

function reference(kind: string, name: string): string {
  return `#/components/${kind}/${name}`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
