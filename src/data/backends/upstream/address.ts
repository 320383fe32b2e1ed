/** Where an upstream lies, and what of its address must not be told. */
export interface Address {
  readonly origin: string;
  /** The credentials before the host, as a header. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parts of the address that may be keys. */
  readonly secrets: readonly string[];
  /** The names of the base's own query. */
  readonly ownParameters: ReadonlySet<string>;
  /** The request target of a path below the base address; the base's own query comes first. */
  target(path: string, query?: URLSearchParams): string;
}

/** A path segment as long as this may be a key, unless every instance has it. */
const MIN_KEY_LENGTH = 8;
const EVERYWHERE: readonly string[] = ['api', 'v1', 'v2'];

/** Reads a base address: `https://user:password@host/base/path?key=…` with everything but the host optional. */
export function readAddress(baseUrl: string): Address {
  const url = new URL(baseUrl);
  const base = url.pathname.replace(/\/+$/, '');
  const credentials = [url.username, url.password].map(unescaped);
  return {
    origin: url.origin,
    headers: url.username === '' && url.password === '' ? {} : { authorization: basic(credentials) },
    secrets: [
      ...credentials,
      ...url.searchParams.values(),
      ...base.split('/').filter(segment => segment.length >= MIN_KEY_LENGTH && !EVERYWHERE.includes(segment)),
    ],
    ownParameters: new Set(url.searchParams.keys()),
    target(path, query) {
      const pairs = new URLSearchParams([...url.searchParams, ...(query ?? [])]).toString();
      return `${base}${path}${pairs === '' ? '' : `?${pairs}`}`;
    },
  };
}

function basic(credentials: readonly string[]): string {
  return `Basic ${Buffer.from(credentials.join(':')).toString('base64')}`;
}

/** What is shorter occurs by chance. */
const MIN_SECRET = 4;

/** Takes secrets out of texts, however they are spelled there: upstreams repeat keys that they do not like. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const hidden = [...new Set(secrets.flatMap(spellings))]
    .filter(secret => secret.length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
  return text => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}

/** A secret as it is, without escapes, and with those of paths and of queries, in capitals and small letters. */
function spellings(secret: string): string[] {
  const plain = unescaped(secret);
  const escaped = [secret, plain].flatMap(text => [
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams([['', text]]).toString().slice(1),
  ]);
  const small = escaped.map(text => text.replace(/%[0-9A-F]{2}/g, byte => byte.toLowerCase()));
  return [secret, plain, ...escaped, ...small];
}

/** As it came where it has an escape that is none. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
