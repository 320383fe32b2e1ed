import { unescaped } from './redact-secrets.ts';

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
