import { DAY_MS } from '../lib/clock.ts';
/** Host and port to listen on. An IPv6 host has no brackets. */
export interface ListenAddress {
  host: string;
  port: number;
}

/** Database to open. `file` is absolute, or `:memory:`. */
export type SqliteDatabase = { kind: 'sqlite'; file: string };
export type Database = SqliteDatabase | PostgresDatabase;

/** Redis server: `redis://`, or `rediss://` with TLS. */
export interface RedisStore {
  kind: 'redis';
  url: string;
}

/** PostgreSQL database. `tls` holds the contents of the certificate files. */
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

/**
 * Milliseconds of a duration such as `30s`.
 * @throws on text that the schema would have rejected
 */
export function durationMs(text: string): number {
  return amountIn(UNIT_MS, text);
}

/** Bytes of a size such as `256MB`. kB, MB and GB are powers of 1000; KiB, MiB and GiB of 1024. */
export function sizeBytes(text: string): number {
  return amountIn(UNIT_BYTES, text);
}

/** Host and port of `127.0.0.1:3000` or `[::1]:3000`. */
export function listenAddress(text: string): ListenAddress {
  const colon = text.lastIndexOf(':');
  const host = text.slice(0, colon).replace(/^\[(.*)\]$/, '$1');
  return { host, port: Number(text.slice(colon + 1)) };
}

/** Origin of an address as seen from the same machine. */
export function originOf({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function amountIn(units: Readonly<Record<string, number>>, text: string): number {
  const [, digits, unit = ''] = /^(\d+)([A-Za-z]+)$/.exec(text) ?? [];
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (factor === undefined) throw new Error(`expected an amount with a unit: ${text}`);
  return Number(digits) * factor;
}
