import { DAY_MS } from '../lib/clock.ts';
/** A host and port to listen on; the host of an IPv6 address stands without brackets. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** A database to open. `file` is absolute, or `:memory:`. */
export type SqliteDatabase = { kind: 'sqlite'; file: string };
export type Database = SqliteDatabase | PostgresDatabase;

/** A Redis: `redis://` or, with TLS, `rediss://`. */
export interface RedisStore {
  kind: 'redis';
  url: string;
}

/** A PostgreSQL database, with the content of the certificate files. */
export interface PostgresDatabase {
  kind: 'postgres';
  url: string;
  poolSize: number;
  statementTimeoutMs: number;
  lockTimeoutMs: number;
  listenUrl?: string;
  tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };
const UNIT_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
};

/** `30s` in milliseconds. Throws on text that the schema would not have let through. */
export function durationMs(text: string): number {
  return amountIn(UNIT_MS, text);
}

/** `256MB` in bytes: kB, MB and GB count in thousands, KiB, MiB and GiB in 1024s. */
export function sizeBytes(text: string): number {
  return amountIn(UNIT_BYTES, text);
}

/** `127.0.0.1:3000` or `[::1]:3000` as host and port. */
export function listenAddress(text: string): ListenAddress {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(text.slice(colon + 1)) };
}

/** The origin under which an address is reached from the same machine. */
export function originOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function amountIn(units: Readonly<Record<string, number>>, text: string): number {
  const [, digits, unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (factor === undefined) throw new Error(`not an amount with a unit: ${text}`);
  return Number(digits) * factor;
}
