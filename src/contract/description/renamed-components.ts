import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../../lib/json.ts';
import { child, type Json, type JsonObject, mapObjects } from '../contracts/document.ts';

/** Components by reference (`#/components/<kind>/<name>`) with the references that take their place. */
export type Renames = ReadonlyMap<string, string>;

/**
 * Which components of a document have to be called otherwise beside those already `held`: namesakes of other content,
 * and whatever leads to one of them, however alike it is written. The new name begins with the contract's.
 */
export function renamesBeside(
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

/** A copy of a document in which components, references and security requirements have their new names. */
export function renamed(document: JsonObject, renames: Renames): JsonObject {
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
