import { type Json, type JsonObject, list, mapObjects } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';

/** Bounds of the format `int32`. */
const INT32 = { most: 2 ** 31 - 1, least: -(2 ** 31) };

/**
 * Adds a format to every integer, for generators that would assume 32 bits otherwise: `int32` where its bounds allow
 * it, else `int64`.
 */
export function withIntegerFormats(document: JsonObject): JsonObject {
  return mapDocument(document, object =>
    isInteger(object) && object.format === undefined
      ? { ...object, format: isWithinInt32(object) ? 'int32' : 'int64' }
      : object,
  );
}

/** Adds a `default` to every body field that may be omitted, as the server reads them (spec/README.md, rule 13). */
export function withDefaults(document: JsonObject): JsonObject {
  return mapDocument(document, object => {
    const { 'x-when-absent': absent } = object;
    return absent === undefined ? object : { ...object, default: absent };
  });
}

/** Removes descriptions, examples and cited decisions, which no value can violate. */
export function rulesOnly(schema: JsonObject): JsonObject {
  return mapDocument(schema, ({ description, examples, 'x-decision': _, ...rules }) => ({
    ...rules,
    // Properties may have these names too; their values are schemas.
    ...(isObject(description) ? { description } : {}),
    ...(isObject(examples) ? { examples } : {}),
  }));
}

/** Applies `change` to every object in a document, innermost first. */
export function mapDocument(document: JsonObject, change: (object: JsonObject) => JsonObject): JsonObject {
  const copy = mapObjects(document, change);
  return isObject(copy) ? copy : document;
}

function isInteger({ type }: JsonObject): boolean {
  return type === 'integer' || (Array.isArray(type) && type.includes('integer') && !type.includes('string'));
}

function isWithinInt32(schema: JsonObject): boolean {
  const named = [schema.const, ...list(schema, 'enum')].filter(isNumber);
  const bounds = named.length > 0 ? named : [schema.minimum, schema.maximum];
  return bounds.every(bound => isNumber(bound) && bound >= INT32.least && bound <= INT32.most);
}

function isNumber(value: Json | undefined): value is number {
  return typeof value === 'number';
}
