import type { Random } from '../faults/random.ts';

type Header = readonly [name: string, value: string];

/** Unusual values of headers that the services read. */
const VALUES: readonly (readonly [name: string, values: readonly string[]])[] = [
  ['Accept', ['text/html', '*/*;q=0', 'application/json;q=a', '']],
  ['Accept-Encoding', ['gzip', 'br', 'identity;q=0', '*;q=0', 'gzip;q=2', ',,,']],
  ['If-None-Match', ['*', '"', 'W/""', ',', `"${'a'.repeat(3_000)}"`]],
  ['If-Modified-Since', ['never', 'Thu, 01 Jan 1970 00:00:00 GMT']],
  ['Range', ['bytes=0-1', 'bytes=-1', 'bytes=9-1']],
  ['Origin', ['null', 'https://shop.invalid', 'x']],
  ['Access-Control-Request-Method', ['DELETE', 'x y']],
  ['Cache-Control', ['no-cache', 'only-if-cached', 'max-age=x']],
  ['Idempotency-Key', ['a', 'b', 'x'.repeat(300), ' ', '"a"', 'a, b']],
  ['X-Request-Id', ['a', 'a b', 'x'.repeat(300), '']],
  ['X-Forwarded-For', ['10.0.0.1', '::1, x', 'unknown', ',,']],
  ['X-Forwarded-Host', ['other.invalid', 'a b', '']],
  ['X-Forwarded-Proto', ['https', 'javascript']],
  ['X-HTTP-Method-Override', ['DELETE']],
  ['Content-Encoding', ['gzip', 'br', 'identity', 'x']],
  ['Cookie', ['a=b', '=;;']],
];
const TYPES = [
  'text/plain',
  'application/json; charset=latin1',
  'application/json;charset=utf-16',
  'application/json;',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=a',
  'application/problem+json',
  '/',
  '',
];
const CREDENTIALS: readonly Header[] = [
  ['Authorization', 'Bearer'],
  ['Authorization', 'Bearer a b'],
  ['Authorization', 'Basic YTpi'],
  ['Authorization', `Bearer tg_test_${'a'.repeat(32)}`],
  ['Authorization', 'x'.repeat(4_000)],
  ['X-API-Key', ''],
  ['X-API-Key', 'a'],
];

/** Headers of a request, most of them valid, each at most once. */
export function headersFor(
  random: Random,
  { key, hasBody }: { key: string | undefined; hasBody: boolean },
): Header[] {
  const headers: Header[] = [];
  if (hasBody) headers.push(['Content-Type', random.chance(0.93) ? 'application/json' : random.pick(TYPES)]);
  if (key !== undefined) headers.push(...credentials(random, key));
  const first = random.below(VALUES.length);
  // Neighbours in the list, so that no name is repeated.
  const more = random.chance(0.6) ? 0 : 1 + random.below(3);
  for (let place = 0; place < more; place += 1) {
    const [name, values] = VALUES[(first + place) % VALUES.length] ?? ['X', ['']];
    headers.push([name, random.pick(values)]);
  }
  return headers;
}

function credentials(random: Random, key: string): Header[] {
  const kind = random.below(20);
  if (kind === 0) return [];
  if (kind === 1) return [random.pick(CREDENTIALS)];
  if (kind === 2)
    return [
      ['Authorization', `Bearer ${key}`],
      ['X-API-Key', key],
    ];
  return kind === 3 ? [['X-API-Key', key]] : [['Authorization', `Bearer ${key}`]];
}
