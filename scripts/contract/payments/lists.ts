import { type Json, type JsonObject, list, resolve } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';
import type { Operation } from './operation.ts';
import type { Tester } from './tester.ts';

/** Maximum records of a page, and the number of pages that a list is split into. */
const LARGEST_PAGE = 100;
const PAGES = 4;
/** Parameters of pagination and order, and filters by what no field of the record says. */
const NO_FILTERS = ['page', 'limit', 'sort', 'order', 'unmatched', 'mark'];

/** Record fields of filters with a different name. */
const FIELDS: Readonly<Record<string, string>> = { active: 'is_active', type: 'event', search: 'name' };

interface Listed {
  readonly rows: readonly JsonObject[];
  /** Number of records on all pages. */
  readonly total: number;
}

export function isPagedList({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === 'page');
}

/** Reads a list in one page and in several, with every filter and in every order, and compares the results. */
export async function tryList(tester: Tester, operation: Operation, at: Readonly<Record<string, string>>) {
  const ask = async (query: string): Promise<Listed> => {
    const { body } = await tester.ask(operation, { at, query }, ['200']);
    const rows = list(body, 'data').filter(entry => isObject(entry));
    const path = operation.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => at[name] ?? '');
    if (body.success !== true && body.url !== path)
      tester.report(`${operation.id}?${query}: url is ${JSON.stringify(body.url)}`);
    const total = Number(body.total_count);
    const { page = '1', limit = '20' } = Object.fromEntries(new URLSearchParams(query));
    if (body.has_more !== Number(page) * Number(limit) < total) {
      tester.report(`${operation.id}?${query}: has_more is ${body.has_more} of ${total}`);
    }
    return { rows, total };
  };
  const whole = await ask(`limit=${LARGEST_PAGE}`);
  await tryPages(tester, operation, { ask, whole });
  await tryFilters(tester, operation, { ask, whole });
  await tryOrders(tester, operation, { ask, whole });
}

interface Reading {
  readonly ask: (query: string) => Promise<Listed>;
  readonly whole: Listed;
}

async function tryPages(tester: Tester, { id }: Operation, { ask, whole }: Reading): Promise<void> {
  const limit = Math.min(LARGEST_PAGE, Math.max(1, Math.ceil(whole.rows.length / PAGES)));
  const pages: Listed[] = [];
  for (let page = 1; page <= Math.max(1, Math.ceil(whole.rows.length / limit)); page++) {
    pages.push(await ask(`limit=${limit}&page=${page}`));
  }
  // New records shift the pages; then there is nothing to compare.
  const isStill = pages.every(({ total }) => total === whole.total);
  const walked = pages.flatMap(({ rows }) => rows.map(idOf));
  if (isStill && walked.join() !== whole.rows.map(idOf).join()) {
    tester.report(`${id}: pages of ${limit} have other records than one page of ${LARGEST_PAGE}`);
  }
  const beyond = await ask(`page=${Number.MAX_SAFE_INTEGER}`);
  if (beyond.rows.length > 0) tester.report(`${id}: a page beyond the end has records`);
  const times = whole.rows.map(row => String(row.created_at));
  if (times.join() !== times.toSorted().reverse().join()) tester.report(`${id}: the newest are not first`);
}

async function tryFilters(tester: Tester, operation: Operation, { ask, whole }: Reading): Promise<void> {
  for (const parameter of operation.parameters.filter(({ in: place }) => place === 'query')) {
    const name = String(parameter.name);
    if (NO_FILTERS.includes(name)) continue;
    const schema = resolve(tester.document, parameter.schema);
    for (const value of valuesFor(name, schema, whole.rows)) {
      const query = `${name}=${encodeURIComponent(String(value))}&limit=${LARGEST_PAGE}`;
      const { rows } = await ask(query);
      const stranger = rows.find(row => !matches(name, row, value));
      if (stranger !== undefined) tester.report(`${operation.id}?${query}: has ${idOf(stranger)}`);
      const missing = whole.rows.find(
        row => matches(name, row, value) && !rows.some(one => idOf(one) === idOf(row)),
      );
      // Records beyond a full page may be missing.
      if (missing !== undefined && rows.length < LARGEST_PAGE) {
        tester.report(`${operation.id}?${query}: lacks ${idOf(missing)}`);
      }
    }
  }
}

/** Values to filter by: all of an enum, both of a boolean, else one from a record. */
function valuesFor(name: string, schema: JsonObject, rows: readonly JsonObject[]): Json[] {
  if (Array.isArray(schema.enum)) return schema.enum;
  if (schema.type === 'boolean') return [true, false];
  const values = rows.map(row => fieldOf(name, row)).filter(value => value !== null && value !== undefined);
  return values.slice(Math.floor(values.length / 2)).slice(0, 1);
}

function matches(name: string, row: JsonObject, value: Json): boolean {
  const own = fieldOf(name, row);
  if (name === 'from') return String(own) >= String(value);
  if (name === 'to') return String(own) < String(value);
  if (name === 'search') {
    return [own, row.short_code].some(text =>
      String(text).toLowerCase().includes(String(value).toLowerCase()),
    );
  }
  if (name === 'paid') return (row.completed_checkouts !== 0) === value;
  if (name === 'refunded') return (row.amount_refunded !== '0') === value;
  if (name === 'unswept') return (row.amount_unswept !== '0') === value;
  return own === value;
}

function fieldOf(name: string, row: JsonObject): Json | undefined {
  return row[name === 'from' || name === 'to' ? 'created_at' : (FIELDS[name] ?? name)];
}

/** Checks that the opposite direction reverses the records. */
async function tryOrders(tester: Tester, operation: Operation, { ask, whole }: Reading): Promise<void> {
  const sort = operation.parameters.find(({ name }) => name === 'sort');
  if (sort === undefined || whole.total > LARGEST_PAGE) return;
  for (const field of list(resolve(tester.document, sort.schema), 'enum').map(String)) {
    const [up, down] = [
      await ask(`sort=${field}&order=asc&limit=${LARGEST_PAGE}`),
      await ask(`sort=${field}&order=desc&limit=${LARGEST_PAGE}`),
    ];
    const upwards = up.rows.map(idOf);
    if (up.total === down.total && upwards.join() !== down.rows.map(idOf).reverse().join()) {
      tester.report(`${operation.id}: sorted by ${field}, asc and desc differ by more than their direction`);
    }
  }
}

/** A deposit address is its own id. */
function idOf({ id, address }: JsonObject): string {
  return String(id ?? address);
}
