/** Field of a request's form. */
export interface RequestField {
  readonly name: string;
  /** Part of the request: path, query, header or body. */
  readonly section: string;
  readonly value: string;
  /** True for several values, separated by commas. */
  readonly isList: boolean;
}

/** Request of a form. Empty fields are left out. */
export function requestOfForm(
  { method, path, key }: { readonly method: string; readonly path: string; readonly key: string },
  fields: readonly RequestField[],
): { readonly target: string; readonly init: RequestInit } {
  const given = fields
    .map(field => ({ ...field, value: field.value.trim() }))
    .filter(({ value }) => value !== '');
  const at = (section: string) => given.filter(field => field.section === section);
  const filled = at('path').reduce(
    (text, { name, value }) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const query = new URLSearchParams(
    at('query').flatMap(({ name, value, isList }) =>
      (isList ? value.split(',') : [value]).map(one => [name, one.trim()]),
    ),
  );
  const [body] = at('body');
  const headers = new Headers(at('header').map(({ name, value }): [string, string] => [name, value]));
  if (key !== '') headers.set('Authorization', `Bearer ${key}`);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  return {
    target: query.size === 0 ? filled : `${filled}?${query}`,
    init: { method: method.toUpperCase(), headers, ...(body !== undefined && { body: body.value }) },
  };
}
