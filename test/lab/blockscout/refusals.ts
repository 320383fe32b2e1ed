import { type Generation, since } from './generation.ts';
import { declared, type Route } from './routes.ts';

/** Status and body of an answer. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

export const NOT_FOUND: Refusal = { status: 404, body: { message: 'Not found' } };
export const UNKNOWN_ACTION: Refusal = { status: 400, body: { message: 'Unknown API v2 action' } };
export const BAD_REQUEST: Refusal = { status: 400, body: 'Bad request' };
export const CRASHED: Refusal = { status: 500, body: 'Internal server error' };

const FORMS: Readonly<Record<string, RegExp>> = {
  hash: /^0x[0-9a-fA-F]{64}$/,
  address: /^0x[0-9a-fA-F]{40}$/,
  block: /^(?:\d{1,18}|0x[0-9a-fA-F]{64})$/,
  id: /^\d{1,78}$/,
};
/** Longest page size that a client may name, in versions with checked parameters up to 11. */
const MAX_ITEMS_COUNT = 50;

/** The refusal of a request before any look-up. Every parameter is checked since 9.3. */
export function refusalOf(
  route: Route,
  generation: Generation,
  path: Readonly<Record<string, string>>,
  query: URLSearchParams,
): Refusal | undefined {
  for (const [name, text] of Object.entries(path)) {
    if (FORMS[name]?.test(text) === false) return invalid(generation, `${name}_param`, 'Invalid format.');
  }
  if (!since(generation, 'v9.3')) return undefined;
  const known = declared(route, generation, query);
  for (const [name, value] of query) {
    const [group = name] = name.split('[', 1);
    if (!known.has(group)) return invalid(generation, name, `Unexpected field: ${name}`);
    const isCount = name === 'items_count' && route.counts !== 'position' && !since(generation, 'v12');
    if (isCount && !(Number(value) <= MAX_ITEMS_COUNT))
      return invalid(generation, name, `${value} is larger than maximum ${MAX_ITEMS_COUNT}`);
  }
  return undefined;
}

function invalid(generation: Generation, name: string, detail: string): Refusal {
  const body = since(generation, 'v9.3')
    ? { errors: [{ title: 'Invalid value', source: { pointer: `/${name}` }, detail }] }
    : { message: 'Invalid parameter(s)' };
  return { status: 422, body };
}
