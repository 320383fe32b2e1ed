import { child, type Json, type JsonObject, list, resolve } from '#contract/contracts/document.ts';
import type { PaymentsErrorCode } from '#contract/contracts/payments-errors.ts';
import { isObject } from '#lib/json.ts';
import { typesOf, wrongValues } from './wrong-values.ts';

/** Body with one fault, and the expected error: its code and its place, as a dotted path. */
export interface BodyFault {
  readonly body: Json;
  readonly code: PaymentsErrorCode;
  readonly place: string;
}

/** Position of a schema in a body: its path, and the body around a value there. */
interface Spot {
  readonly path: readonly string[];
  readonly around: (value: Json | undefined) => Json;
}

/**
 * Bodies that a schema refuses, each for one reason. `known` holds rules that were tested in full; a field with such
 * rules gets one fault only.
 */
export function bodyFaults(document: JsonObject, schema: JsonObject, known: Set<string>): BodyFault[] {
  return within({ document, known }, schema, { path: [], around: value => value ?? null });
}

interface Walk {
  readonly document: JsonObject;
  readonly known: Set<string>;
}

/** Minimal valid value of a schema. */
export function sampleOf(document: JsonObject, value: Json | undefined): Json {
  const schema = resolve(document, value);
  const [example = list(schema, 'enum')[0] ?? schema['x-when-absent']] = list(schema, 'examples');
  if (example !== undefined) return example;
  const types = typesOf(schema);
  if (types.includes('array')) return [sampleOf(document, schema.items)];
  if (!types.includes('object')) return types.includes('null') ? null : 'x';
  const properties = child(schema, 'properties');
  return Object.fromEntries(
    list(schema, 'required').map(name => [String(name), sampleOf(document, properties[String(name)])]),
  );
}

function within(walk: Walk, schema: JsonObject, spot: Spot): BodyFault[] {
  const base = sampleOf(walk.document, schema);
  const faults = typesOf(schema).includes('array') ? inItems(walk, schema, spot) : [];
  if (!isObject(base)) return faults;
  const missing = list(schema, 'required').map(String);
  faults.push(
    ...missing.map(name => ({
      body: spot.around(Object.fromEntries(Object.entries(base).filter(([own]) => own !== name))),
      code: 'missing_required_field' as const,
      place: [...spot.path, name].join('.'),
    })),
  );
  for (const [name, member] of Object.entries(child(schema, 'properties'))) {
    faults.push(
      ...atMember(
        walk,
        member,
        below(spot, name, value => withMember(base, name, value)),
      ),
    );
  }
  // At the top of the body the error for unknown fields depends on the method. Below it the rule is the same
  // everywhere.
  if (isObject(schema.properties) && spot.path.length > 0 && !walk.known.has('unknown field')) {
    walk.known.add('unknown field');
    const body = { ...base, undeclared: 1 };
    faults.push({
      body: spot.around(body),
      code: 'invalid_field_value',
      place: [...spot.path, 'undeclared'].join('.'),
    });
  }
  if (isObject(schema.additionalProperties)) {
    const around = below(spot, 'key', value => ({ key: value ?? null }));
    faults.push(...atMember(walk, schema.additionalProperties, around));
  }
  if (isObject(schema.propertyNames)) faults.push(refused(spot, { 'no such key!': 'x' }));
  if (typeof schema.maxProperties === 'number') {
    const keys = Array.from({ length: schema.maxProperties + 1 }, (_, index) => [`k${index}`, 'x']);
    faults.push(refused(spot, Object.fromEntries(keys)));
  }
  return faults;
}

function inItems(walk: Walk, schema: JsonObject, spot: Spot): BodyFault[] {
  const item = sampleOf(walk.document, schema.items);
  const faults = atMember(
    walk,
    schema.items,
    below(spot, '0', value => [value ?? null]),
  );
  if (typeof schema.maxItems === 'number') {
    faults.push(
      refused(
        spot,
        Array.from({ length: schema.maxItems + 1 }, () => item),
      ),
    );
  }
  if (typeof schema.minItems === 'number' && schema.minItems > 0) faults.push(refused(spot, []));
  return faults;
}

function atMember({ document, known }: Walk, member: Json | undefined, spot: Spot): BodyFault[] {
  const schema = resolve(document, member);
  const own = wrongValues(schema).map(({ value, code }) => refused(spot, value, code));
  const rules = rulesOf(schema);
  if (known.has(rules)) return own.slice(0, 1);
  known.add(rules);
  return [...own, ...within({ document, known }, schema, spot)];
}

/** Rules of a schema, without its descriptions. */
function rulesOf({ description: _, examples: __, 'x-decision': ___, ...rules }: JsonObject): string {
  return JSON.stringify(rules);
}

function below(spot: Spot, name: string, wrap: (value: Json | undefined) => Json): Spot {
  return { path: [...spot.path, name], around: value => spot.around(wrap(value)) };
}

function withMember(base: JsonObject, name: string, value: Json | undefined): JsonObject {
  return { ...base, [name]: value ?? null };
}

function refused({ path, around }: Spot, value: Json, code: PaymentsErrorCode = 'invalid_field_value') {
  return { body: around(value), code, place: path.join('.') };
}
