import type { Json, JsonObject } from '../../src/contract/contracts/document.ts';
import type { Operation } from '../contract/payments/operation.ts';
import { badValues, goodValues, HOSTILE } from '../contract/values.ts';
import type { Random } from '../faults/random.ts';
import { mutatedBody } from './body-mutations.ts';
import { headersFor } from './header-mutations.ts';
import type { FuzzRequest } from './request.ts';
import { anyText, mutatedText } from './text-mutations.ts';
import { wireMutation } from './wire-mutations.ts';

/** Material for valid requests to the operations of one contract. */
export interface Ground {
  readonly document: JsonObject;
  readonly operations: readonly Operation[];
  /** Targets with values that the service knows or with example values. At least one. */
  targets(operation: Operation): readonly string[];
  /** A valid body; undefined for an operation without one. */
  body(operation: Operation): Json | undefined;
  /** The API key; undefined for a service that needs none. */
  readonly key: string | undefined;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
/** Broken query strings, and forms that only some frameworks understand. */
const ODD_QUERIES = [
  '&&&',
  '=',
  '=a',
  'a',
  '?',
  'a[]=1',
  'a[b][c]=1',
  '__proto__[a]=1',
  'a;b=1',
  '%ff=1',
  '%=1',
];

/** Request to the operation with faults in some of its parts. Equal random numbers give equal requests. */
export function mutant(random: Random, operation: Operation, ground: Ground): FuzzRequest {
  const method = operation.row.method.toUpperCase();
  const [path = '', query = ''] = random.pick(ground.targets(operation)).split('?');
  const queries = query === '' ? [] : query.split('&');
  const isMoved = random.chance(0.05);
  const isOtherMethod = random.chance(0.05);
  const valid = ground.body(operation);
  const request: FuzzRequest = {
    method: isOtherMethod ? random.pick(METHODS) : method,
    target: targetOf(
      isMoved ? movedPath(random, path) : mutatedPath(random, operation, path),
      mutatedQuery(random, queries, { operation, document: ground.document }),
    ),
    headers: headersFor(random, { key: ground.key, hasBody: valid !== undefined }),
    body:
      valid === undefined
        ? undefined
        : random.chance(0.1)
          ? JSON.stringify(valid)
          : mutatedBody(random, valid),
    isAimed: !isMoved && !isOtherMethod,
  };
  return random.chance(0.06) ? wireMutation(random, request) : request;
}

function targetOf(path: string, queries: readonly string[]): string {
  return queries.length === 0 ? path : `${path}?${queries.join('&')}`;
}

/** Path with other values for some of its parameters. */
function mutatedPath(random: Random, { path: template, parameters }: Operation, path: string): string {
  const places = template.split('/');
  return path
    .split('/')
    .map((segment, at) => {
      const place = places[at] ?? '';
      if (!place.startsWith('{') || random.chance(0.8)) return segment;
      const parameter = parameters.find(({ name }) => `{${name}}` === place);
      const isKnown = parameter !== undefined && random.chance(0.2);
      return isKnown ? random.pick(HOSTILE) : encoded(mutatedText(random, decodeURIComponent(segment)));
    })
    .join('/');
}

/** Path of another resource, or of none. */
function movedPath(random: Random, path: string): string {
  const at = random.below(path.length + 1);
  const segments = path.split('/');
  return random.pick([
    `${path}/`,
    `/${path}`,
    `${path}/${encoded(anyText(random))}`,
    `${path}.json`,
    `${path};a=b`,
    path.toUpperCase(),
    path.replaceAll('/', '%2f').replace('%2f', '/'),
    `${path}/../..${path}`,
    segments.slice(0, -1).join('/') || '/',
    segments.toSpliced(1 + random.below(segments.length), 0, '').join('/'),
    path.slice(0, at) + encoded(anyText(random)) + path.slice(at),
  ]);
}

function mutatedQuery(
  random: Random,
  given: readonly string[],
  { operation, document }: { operation: Operation; document: JsonObject },
): string[] {
  const queries = given.map(query => {
    const [name = '', value = ''] = query.split('=');
    return random.chance(0.85) ? query : `${name}=${encoded(mutatedText(random, decodeURIComponent(value)))}`;
  });
  const declared = operation.parameters.filter(({ in: place }) => place === 'query');
  // Only a few at a time, because one refused parameter hides all others.
  for (let more = declared.length === 0 ? 0 : random.below(4); more > 0; more -= 1) {
    const parameter = random.pick(declared);
    queries.push(`${parameter.name}=${queryValue(random, document, parameter)}`);
  }
  if (random.chance(0.05)) queries.push(random.pick(ODD_QUERIES));
  if (random.chance(0.04)) queries.push(`${encoded(anyText(random))}=${encoded(anyText(random))}`);
  const [first] = queries;
  if (first !== undefined && random.chance(0.05)) queries.push(first);
  return queries;
}

/** Percent-encoded value of a parameter: valid, invalid by the contract, or arbitrary. */
function queryValue(random: Random, document: JsonObject, parameter: JsonObject): string {
  const good = goodValues(document, parameter);
  const one = good.length === 0 ? '1' : random.pick(good);
  const kind = random.below(10);
  if (kind < 7) return encodeURIComponent(one);
  const bad = badValues(document, parameter);
  if (kind === 7 && bad.length > 0) return random.pick(bad).replaceAll(' ', '%20');
  if (kind === 8) return random.pick(HOSTILE);
  return encodeURIComponent(mutatedText(random, one));
}

/** Percent-encodes a segment; the result is never empty. */
function encoded(text: string): string {
  return encodeURIComponent(text) || '%20';
}
