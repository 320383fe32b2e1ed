import { filtersOf, KINDS, type Kind } from './kinds.ts';

export interface Filter {
  readonly name: string;
  readonly value: string;
}

/** Values of the form. Texts are as typed; an empty text omits its parameter. */
export interface Query {
  readonly kind: Kind;
  readonly subject: string;
  readonly signature: string;
  readonly chainIds: readonly number[];
  readonly filters: readonly Filter[];
  readonly decode: boolean;
  readonly groupBy: string;
  readonly aggregate: string;
  readonly sortBy: string;
  readonly sortOrder: string;
  readonly limit: string;
  readonly page: number;
}

/** Reads the form from the parameters of the page's URL: those of the API, plus `kind`, `of` and `event`. */
export function readQuery(search: string): Query {
  const parameters = new URLSearchParams(search);
  const text = (name: string) => parameters.get(name) ?? '';
  const all = (name: string) => parameters.getAll(name).join(',');
  return {
    kind: KINDS.find(({ id }) => id === text('kind')) ?? KINDS[0],
    subject: text('of'),
    signature: text('event'),
    chainIds: all('chain_id')
      .split(',')
      .map(Number)
      .filter(id => Number.isSafeInteger(id) && id > 0),
    filters: [...parameters]
      .filter(([name]) => name.startsWith('filter_'))
      .map(([name, value]) => ({ name, value })),
    decode: text('decode') === 'true',
    groupBy: all('group_by'),
    aggregate: all('aggregate'),
    sortBy: text('sort_by'),
    sortOrder: text('sort_order'),
    limit: text('limit'),
    page: Math.max(0, Math.trunc(Number(text('page')))) || 0,
  };
}

/** Query string of the page for a form, including `?`. */
export function searchOf(query: Query): string {
  return `?${encoded([
    ['kind', query.kind.id],
    ['of', query.kind.subject === undefined ? '' : query.subject],
    ['event', query.kind.signature === undefined ? '' : query.signature],
    ...parametersOf(query),
  ])}`;
}

/** Path and parameters of the form's request. */
export function requestOf(query: Query): string {
  const { kind, subject, signature } = query;
  const path = kind.path
    .replace(`{${kind.subject?.parameter}}`, escaped(subject.trim()))
    .replace(`{${kind.signature?.parameter}}`, escaped(signature.trim()));
  const parameters = encoded(parametersOf(query));
  return parameters === '' ? path : `${path}?${parameters}`;
}

/** Label of the first required field that is empty; undefined when the form is complete. */
export function missingIn({ kind, subject, signature }: Query): string | undefined {
  if (kind.subject !== undefined && subject.trim() === '') return kind.subject.label;
  if (kind.signature !== undefined && signature.trim() === '') return kind.signature.label;
  return undefined;
}

function parametersOf(query: Query): readonly (readonly [name: string, value: string])[] {
  const known = filtersOf(query.kind);
  return [
    ...query.chainIds.map(id => ['chain_id', String(id)] as const),
    ...query.filters
      .filter(({ name }) => known.includes(name))
      .map(({ name, value }) => [name, value] as const),
    ['group_by', query.groupBy],
    ['aggregate', query.aggregate],
    ['sort_by', query.sortBy],
    ['sort_order', query.sortOrder],
    ['decode', query.decode && query.kind.canDecode ? 'true' : ''],
    ['limit', query.limit],
    ['page', query.page === 0 ? '' : String(query.page)],
  ];
}

/** Encodes the parameters that have a value, and leaves readable characters as they are. */
function encoded(parameters: readonly (readonly [name: string, value: string])[]): string {
  return parameters
    .filter(([, value]) => value.trim() !== '')
    .map(([name, value]) => `${name}=${escaped(value.trim())}`)
    .join('&');
}

/**
 * Percent-encodes a value. Commas stay readable. Single quotes are encoded, so that a shell accepts the URL in single
 * quotes.
 */
function escaped(value: string): string {
  return encodeURIComponent(value).replaceAll('%2C', ',').replaceAll("'", '%27');
}
