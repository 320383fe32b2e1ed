import type { ErrorObject } from 'ajv';

/**
 * Wording for formats without an `x-form` in the schema. Other formats come with a pattern and its `x-form`.
 * Source: spec/README.md, rule 13.
 */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ['https-url', 'an https:// address with a valid host, without a user name or spaces'],
  ['image-url', 'an https:// address, or the url of an uploaded image'],
  ['http-url', 'an https:// or http:// address with a valid host, without a user name or spaces'],
  ['email', 'an email address such as ada@example.com'],
]);

/** Names of the JSON types, as they follow "must be". */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['array', 'an array'],
  ['boolean', 'true or false'],
  ['integer', 'an integer'],
  ['null', 'null'],
  ['number', 'a number'],
  ['object', 'an object'],
  ['string', 'a string'],
]);

/** Ajv's facts about a finding. They are typed loosely, so each one is checked before use. */
interface Facts {
  readonly params: Readonly<Record<string, unknown>>;
  /** The schema around the rule; empty unless the validator is `verbose`. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The schema's own description of valid values, `x-form` (Decision 182). */
  readonly form: string | undefined;
}

/**
 * Predicate that states the values allowed by a broken rule, such as "must be 0x followed by 64 hexadecimal digits". It
 * follows the name of the value and repeats neither the value nor a regular expression.
 */
export function brokenRule({ keyword, params, parentSchema: schema = {}, message }: ErrorObject): string {
  const words: unknown = schema['x-form'];
  const form = typeof words === 'string' ? words : undefined;
  const sentence = RULES.get(keyword)?.({ params, schema, form });
  return sentence ?? (form === undefined ? (message ?? 'is not valid') : `must be ${form}`);
}

type Rule = (facts: Facts) => string | undefined;

/** Predicates by rule keyword. `pattern` is absent: its form is used as it stands. */
const RULES: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ['required', () => 'is required'],
  ['enum', ({ params: { allowedValues } }) => oneOf(allowedValues)],
  ['const', ({ params: { allowedValue } }) => `must be ${JSON.stringify(allowedValue)}`],
  ['type', typeRule],
  ['format', ({ params: { format }, form }) => mustBe(form ?? FORMATS.get(String(format)))],
  ['not', notRule],
  ['minimum', rangeRule],
  ['maximum', rangeRule],
  ['minLength', ({ params: { limit }, form }) => mustBe(form) ?? atLeast(limit, 'be', 'characters long')],
  ['maxLength', maxLengthRule],
  ['minItems', ({ params: { limit } }) => atLeast(limit, 'have', 'items')],
  ['maxItems', ({ params: { limit } }) => `must have at most ${limit} items`],
  ['uniqueItems', () => 'must not have an item twice'],
  ['minProperties', ({ params: { limit } }) => atLeast(limit, 'have', 'keys')],
  ['maxProperties', ({ params: { limit } }) => `must have at most ${limit} keys`],
]);

function mustBe(words: string | undefined): string | undefined {
  return words === undefined ? undefined : `must be ${words}`;
}

function atLeast(limit: unknown, verb: string, what: string): string {
  return limit === 1 ? 'must not be empty' : `must ${verb} at least ${limit} ${what}`;
}

function oneOf(values: unknown): string | undefined {
  return Array.isArray(values) ? `must be one of ${values.map(String).join(', ')}` : undefined;
}

/** Alternatives with "or" before the last one. */
function anyOf(words: readonly string[]): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} or ${last}`;
}

/** Adds the form or the list of values: the type alone does not show which values are right. */
function typeRule({ params: { type }, schema, form }: Facts): string {
  const allowed = oneOf(schema.enum);
  if (allowed !== undefined) return allowed;
  const types = (Array.isArray(type) ? type : [type]).map(name => TYPES.get(name) ?? String(name));
  return `must be ${anyOf(types)}${form === undefined ? '' : `: ${form}`}`;
}

function notRule({ schema: { not } }: Facts): string {
  const reserved: unknown = typeof not === 'object' && not !== null && 'enum' in not ? not.enum : undefined;
  return Array.isArray(reserved)
    ? `must not be ${anyOf(reserved.map(String))}`
    : 'must not be a reserved value';
}

/** Names both ends of a range, so that a corrected value does not fail at the other end. */
function rangeRule({ params: { comparison, limit }, schema: { type, minimum, maximum } }: Facts): string {
  if (typeof minimum === 'number' && typeof maximum === 'number') {
    const kind = [type].flat().includes('integer') ? 'an integer' : 'a number';
    return `must be ${kind} from ${minimum} to ${maximum}`;
  }
  return `must be at ${comparison === '>=' ? 'least' : 'most'} ${limit}`;
}

function maxLengthRule({ params: { limit }, form }: Facts): string {
  return form === undefined
    ? `must be at most ${limit} characters long`
    : `must be ${form} (at most ${limit} characters)`;
}

/** Closest known word, or undefined when none is near. Case is ignored. */
export function didYouMean(word: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(word.length / 3));
  const near = known
    .map(candidate => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.candidate;
}

/** Levenshtein distance of two words, computed one row of the table at a time. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let line = 1; line <= from.length; line++) {
    const next = [line];
    for (let column = 1; column <= to.length; column++) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
