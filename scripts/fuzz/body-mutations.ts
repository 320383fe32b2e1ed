import type { Json, JsonObject } from '../../src/contract/contracts/document.ts';
import { isObject } from '../../src/lib/json.ts';
import { HOSTILE_BODIES } from '../../test/lab/hostile-input.ts';
import type { Random } from '../faults/random.ts';
import { anyText, mutatedText } from './text-mutations.ts';

const VALUES: readonly Json[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e21,
  1e308,
  2 ** 31,
  2 ** 53,
  '',
  [],
  {},
  [[]],
  [null],
  { a: { b: [] } },
];
const DEEPEST = 40;

/** Body of a request: a valid one with up to three faults, or text that is not valid JSON. */
export function mutatedBody(random: Random, valid: Json): string {
  if (random.chance(0.06)) return random.pick(HOSTILE_BODIES);
  let body = valid;
  for (let faults = random.between(0, 4); faults >= 1; faults -= 1) body = withFault(random, body);
  const text = JSON.stringify(body);
  if (random.chance(0.94)) return text;
  const at = random.below(text.length + 1);
  return random.chance(0.5)
    ? text.slice(0, at)
    : `${text.slice(0, at)}${anyText(random)}${text.slice(at + 1)}`;
}

/** Copy of the value with one fault somewhere in it. */
function withFault(random: Random, value: Json): Json {
  if (Array.isArray(value) && value.length > 0 && random.chance(0.7)) {
    const at = random.below(value.length);
    return value.map((item, index) => (index === at ? withFault(random, item) : item));
  }
  if (isObject(value)) return withFieldFault(random, value);
  // URLs are not edited: a webhook to an edited URL could leave this machine.
  const isUrl = typeof value === 'string' && value.includes('://');
  if (typeof value === 'string' && !isUrl && random.chance(0.6)) return mutatedText(random, value);
  if (typeof value === 'number' && random.chance(0.5)) return random.chance(0.5) ? String(value) : -value;
  return anyValue(random);
}

function withFieldFault(random: Random, record: JsonObject): Json {
  const names = Object.keys(record);
  const name = names.length === 0 || random.chance(0.15) ? anyText(random) : random.pick(names);
  const kind = random.below(10);
  if (kind === 0) return anyValue(random);
  if (kind === 1) return Object.fromEntries(Object.entries(record).filter(([own]) => own !== name));
  if (kind === 2) return { ...record, [mutatedText(random, name)]: record[name] ?? 1 };
  if (kind === 3)
    return { ...record, [name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())]: 1 };
  return { ...record, [name]: withFault(random, record[name] ?? null) };
}

function anyValue(random: Random): Json {
  if (random.chance(0.1)) {
    const depth = random.between(1, DEEPEST);
    return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
  }
  return random.chance(0.3) ? anyText(random) : random.pick(VALUES);
}
