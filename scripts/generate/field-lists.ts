import { child, type JsonObject, resolve } from '../../src/contract/contracts/document.ts';
import { mapDocument } from './fields.ts';

/** Replaces `{fields of Name}` in a description by the fields of that schema (spec/README.md, rule 20). */
export function withFieldLists(document: JsonObject): JsonObject {
  return mapDocument(document, object => {
    const { description } = object;
    if (typeof description !== 'string') return object;
    const listed = description.replaceAll(/\{fields of (\w+)\}/g, (_, name: string) =>
      fieldsOf(document, name),
    );
    return { ...object, description: listed };
  });
}

function fieldsOf(document: JsonObject, name: string): string {
  const properties = child(resolve(document, { $ref: `#/components/schemas/${name}` }), 'properties');
  const names = Object.keys(properties).flatMap(field =>
    columnsOf(field, resolve(document, properties[field])),
  );
  return names.map(field => `\`${field}\``).join(', ');
}

/** Fields with one value. Each item of a short list is one. */
function columnsOf(name: string, { type, maxItems, contentMediaType }: JsonObject): string[] {
  if (type === 'array') {
    const item = name.replace(/s$/, '');
    return Array.from({ length: Number(maxItems) }, (_, index) => `${item}_${index}`);
  }
  return type === 'object' || contentMediaType === 'application/json' ? [] : [name];
}
