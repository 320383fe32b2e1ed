import { child, type Json, type JsonObject, list, parametersOf, resolve } from '../contracts/document.ts';

/** Operation of a description. */
export interface SampledOperation {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
}

/** Input for the text of a sample. */
interface Sample extends SampledOperation {
  readonly publicUrl: string;
  readonly parameters: readonly JsonObject[];
  readonly target: string;
  /** Undefined when the operation takes no body. */
  readonly body: Json | undefined;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly isJson: boolean;
  /** True for server-sent events, which never end: a sample stops after the first ones. */
  readonly isStream: boolean;
}

/** Runnable code for an operation's example request: curl, TypeScript with openapi-fetch, and Python. */
export function codeSamples(document: JsonObject, operation: SampledOperation, publicUrl: string): Json {
  const sample = sampleOf(document, operation, publicUrl);
  return [
    { lang: 'bash', label: 'cURL', source: curl(sample) },
    { lang: 'typescript', label: 'TypeScript', source: typescript(sample) },
    { lang: 'python', label: 'Python', source: python(sample) },
  ];
}

function sampleOf(document: JsonObject, sampled: SampledOperation, publicUrl: string): Sample {
  const { path, operation } = sampled;
  const parameters = parametersOf(document, path, operation);
  const isSecured = list('security' in operation ? operation : document, 'security').length > 0;
  const answer = resolve(document, child(operation, 'responses')['200'] ?? {});
  const [media = 'application/json'] = Object.keys(child(answer, 'content'));
  return {
    ...sampled,
    publicUrl,
    parameters,
    target: `${publicUrl}${exampleTarget({ path, parameters })}`,
    body: exampleBody(document, operation),
    headers: isSecured ? [['Authorization', 'Bearer YOUR_KEY']] : [],
    isJson: media === 'application/json',
    isStream: media === 'text/event-stream',
  };
}

function curl({ method, target, headers, body, isStream }: Sample): string {
  const time = isStream ? '--no-buffer --max-time 5 ' : '';
  const verb = method === 'get' ? time : `-X ${method.toUpperCase()} `;
  const options = [
    ...withType(headers, body).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`]),
  ];
  return [`curl ${verb}'${target}'`, ...options].join(' \\\n  ');
}

function typescript({ path, method, publicUrl, headers, parameters, body, ...media }: Sample): string {
  const [inPath, inQuery] = [exampleValues(parameters, 'path'), exampleValues(parameters, 'query')];
  const client = {
    baseUrl: publicUrl,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
  const params = {
    ...(inPath.length === 0 ? {} : { path: Object.fromEntries(inPath) }),
    ...(inQuery.length === 0 ? {} : { query: Object.fromEntries(inQuery) }),
  };
  const options = {
    ...(Object.keys(params).length === 0 ? {} : { params }),
    ...(body === undefined ? {} : { body }),
    ...(media.isJson ? {} : { parseAs: media.isStream ? 'stream' : 'text' }),
  };
  const lines = Object.entries(options).map(([name, value]) => `  ${name}: ${literal(value)},\n`);
  const given = lines.length === 0 ? '' : `, {\n${lines.join('')}}`;
  return `import createClient from 'openapi-fetch';
// npx openapi-typescript ${publicUrl}/openapi.json -o tollgate.ts
import type { paths } from './tollgate.js';

const client = createClient<paths>(${literal(client)});
const { data, error } = await client.${method.toUpperCase()}('${path}'${given});
${media.isStream ? TYPESCRIPT_FIRST_EVENTS : 'console.log(data ?? error);'}`;
}

const TYPESCRIPT_FIRST_EVENTS = `if (!data) throw new Error(JSON.stringify(error));
for await (const events of data.pipeThrough(new TextDecoderStream())) {
  console.log(events);
  break; // the stream goes on until it is closed
}`;

function python({ method, target, headers, body, isJson, isStream }: Sample): string {
  const given = withType(headers, body);
  const options = [
    JSON.stringify(target),
    ...(method === 'get' ? [] : [`method="${method.toUpperCase()}"`]),
    ...(given.length === 0 ? [] : [`headers=${pythonLiteral(Object.fromEntries(given))}`]),
    ...(body === undefined ? [] : [`data=json.dumps(${pythonLiteral(body)}).encode()`]),
  ];
  const needsJson = isJson || body !== undefined;
  return `${needsJson ? 'import json\n' : ''}from urllib.request import Request, urlopen

request = Request(
${options.map(option => `    ${option},\n`).join('')})
with urlopen(request) as response:
${isStream ? PYTHON_FIRST_EVENTS : `    print(${isJson ? 'json.load(response)' : 'response.read().decode()'})`}`;
}

const PYTHON_FIRST_EVENTS = `    for _ in range(10):  # the stream goes on until it is closed
        print(response.readline().decode(), end="")`;

function withType(headers: Sample['headers'], body: Json | undefined): Sample['headers'] {
  return body === undefined ? headers : [...headers, ['Content-Type', 'application/json']];
}

/** Formats a value in TypeScript. */
function literal(value: Json): string {
  if (typeof value === 'string') return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, member]) => `${keyOf(name)}: ${literal(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function keyOf(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : literal(name);
}

/** Formats a value in Python. */
function pythonLiteral(value: Json): string {
  if (value === null) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}: ${pythonLiteral(member)}`,
  );
  return `{${members.join(', ')}}`;
}

/** Parts of an operation that determine its example request. */
export interface RequestedOperation {
  readonly path: string;
  readonly parameters: readonly JsonObject[];
}

/**
 * Path and query of an operation's example request, with every parameter that has an `example` (Decision 210). Values
 * in `given` replace examples of path parameters.
 */
export function exampleTarget(
  { path, parameters }: RequestedOperation,
  given: ReadonlyMap<string, string> = new Map(),
): string {
  const examples = new Map(exampleValues(parameters, 'path'));
  const filled = path.replace(/\{([^}]+)\}/g, (whole, name: string) =>
    encodeURIComponent(given.get(name) ?? String(examples.get(name) ?? whole)),
  );
  return withQuery(
    filled,
    exampleValues(parameters, 'query').flatMap(([name, value]) => pairsOf(name, value)),
  );
}

/** Parameters of an example request in one location, `path` or `query`. */
function exampleValues(parameters: readonly JsonObject[], location: string): [name: string, value: Json][] {
  return parameters.flatMap(({ in: at, name, example }): [string, Json][] =>
    at === location && example !== undefined ? [[String(name), example]] : [],
  );
}

/** Body of an example request; undefined when the operation takes none. */
function exampleBody(document: JsonObject, operation: JsonObject): Json | undefined {
  const content = child(resolve(document, operation.requestBody), 'content');
  const media = child(content, 'application/json');
  if (media.schema === undefined) return undefined;
  return media.example ?? list(resolve(document, media.schema), 'examples')[0] ?? {};
}

/** Appends pairs to the query of a target. */
export function withQuery(target: string, pairs: readonly string[]): string {
  if (pairs.length === 0) return target;
  return `${target}${target.includes('?') ? '&' : '?'}${pairs.join('&')}`;
}

/** Query pairs of a parameter, one per value of a list. */
export function pairsOf(name: string, value: Json): string[] {
  const values = Array.isArray(value) ? value : [value];
  return values.map(one => `${name}=${encodeURIComponent(String(one))}`);
}
