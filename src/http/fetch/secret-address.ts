/** Parsed base address of an upstream, with the parts that must stay secret. */
export interface SecretAddress {
  readonly origin: string;
  /** Authorization header from the credentials before the host. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parts of the address that may be keys. */
  readonly secrets: readonly string[];
  /** Parameter names of the base address's query. */
  readonly ownParameters: ReadonlySet<string>;
  /** Returns the request target of a path below the base address. The base's own query comes first. */
  target(path: string, query?: URLSearchParams): string;
}

/** Shortest path segment that may be a key. Segments that every instance has are exempt. */
const MIN_KEY_LENGTH = 8;
const EVERYWHERE: readonly string[] = ['api', 'v1', 'v2'];

/** Reads a base address: `https://user:password@host/base/path?key=…` with everything but the host optional. */
export function readAddress(baseUrl: string): SecretAddress {
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

/** Shorter secrets would match ordinary text by chance. */
const MIN_SECRET = 4;

/** Replaces secrets in texts, in every spelling. Upstreams repeat invalid keys in their error messages. */
export function hiding(secrets: readonly string[]): (text: string) => string {
  const hidden = [...new Set(secrets.flatMap(spellings))]
    .filter(secret => secret.length >= MIN_SECRET)
    .sort((a, b) => b.length - a.length);
  return text => hidden.reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text);
}

/** Spellings of a secret: as given, unescaped, and escaped for paths and for queries in upper and lower case. */
function spellings(secret: string): string[] {
  const plain = unescaped(secret);
  const escaped = [secret, plain].flatMap(text => [
    encodeURIComponent(text.toWellFormed()),
    new URLSearchParams([['', text]]).toString().slice(1),
  ]);
  const small = escaped.map(text => text.replace(/%[0-9A-F]{2}/g, byte => byte.toLowerCase()));
  return [secret, plain, ...escaped, ...small];
}

/** Decodes percent-escapes. Returns the text unchanged when an escape is invalid. */
export function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
