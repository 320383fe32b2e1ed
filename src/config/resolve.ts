import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { components } from '../../generated/config/types.ts';
import {
  type BackendConfig,
  type ChainConfig,
  type Config,
  type DataConfig,
  type DevnetConfig,
  type PaymentsConfig,
  ROLES,
} from './config.ts';
import type { Environment } from './environment.ts';
import {
  type Database,
  durationMs,
  listenAddress,
  originOf,
  type PostgresDatabase,
  type RedisStore,
  type SqliteDatabase,
  sizeBytes,
} from './units.ts';

type File = components['schemas'];

/**
 * Converts a valid file to the configuration: parses units, makes paths absolute from `directory`, and derives settings
 * that depend on others.
 */
export function resolveConfig(
  file: File['ConfigFile'],
  { directory, mode }: { directory: string; mode: Environment['mode'] },
): Omit<Config, 'file' | 'directory' | 'locationOf' | 'lineOf'> {
  const paths = pathsIn(directory);
  return {
    roles: ROLES.filter(role => file.roles.includes(role)),
    workers: typeof file.workers === 'number' ? file.workers : availableParallelism(),
    data: dataOf(file.data, paths, mode),
    payments: paymentsOf(file.payments, paths),
    admin: { listen: listenAddress(file.admin.listen), hosts: file.admin.hosts },
    server: {
      maxConnections: file.server.maxConnections,
      maxConnectionsPerAddress: file.server.maxConnectionsPerAddress,
      drainMs: durationMs(file.server.drain),
      lameDuckMs: lameDuckMsOf(file),
    },
    trustedProxies: file.trustedProxies,
    rateLimitStore: rateLimitStoreOf(file, paths),
    diskReserve: diskReserveOf(file.diskReserve),
    ipfsGateway: withoutSlash(file.ipfsGateway),
    chains: file.chains.map(chain => chainOf(chain, file.data.postgres, paths)),
    devnet: devnetOf(file),
    log: file.log,
  };
}

const LAME_DUCK_MS = 5_000;

/** Without a load balancer nothing asks for readiness. One in front has its address in `trustedProxies`. */
function lameDuckMsOf({ server, workers, trustedProxies }: File['ConfigFile']): number {
  if (server.lameDuck !== undefined) return durationMs(server.lameDuck);
  return workers !== 1 || trustedProxies.length > 0 ? LAME_DUCK_MS : 0;
}

type Paths = ReturnType<typeof pathsIn>;

function pathsIn(directory: string) {
  const path = (text: string) => resolve(directory, text);
  const sqlite = (text: string): SqliteDatabase => {
    const file = text.slice('sqlite:'.length);
    return { kind: 'sqlite', file: file === ':memory:' ? file : path(file) };
  };
  const database = (text: string, settings: File['Postgres']): Database =>
    text.startsWith('sqlite:') ? sqlite(text) : postgresOf(text, settings, path);
  return { path, sqlite, database };
}

function postgresOf(
  url: string,
  { pool, statementTimeout, lockTimeout, listenUrl, tls }: File['Postgres'],
  path: (text: string) => string,
): PostgresDatabase {
  const certificates =
    tls &&
    Object.fromEntries(Object.entries(tls).map(([name, file]) => [name, readFileSync(path(file), 'utf8')]));
  return {
    kind: 'postgres',
    url,
    poolSize: pool,
    statementTimeoutMs: durationMs(statementTimeout),
    lockTimeoutMs: durationMs(lockTimeout),
    ...(listenUrl === undefined ? {} : { listenUrl }),
    ...(certificates === undefined ? {} : { tls: certificates }),
  };
}

function rateLimitStoreOf({ rateLimitStore, payments }: File['ConfigFile'], { path }: Paths) {
  if (rateLimitStore === undefined) return undefined;
  return redisOr(rateLimitStore, url => postgresOf(url, payments.postgres, path));
}

/** Free space to keep; by default the smaller of 5 % of the file system and 2 GiB (Decision 271). */
function diskReserveOf(text: File['DiskReserve'] | undefined): Config['diskReserve'] {
  if (text === undefined) return { share: 0.05, mostBytes: 2 * 2 ** 30 };
  if (text.endsWith('%'))
    return { share: Number(text.slice(0, -1)) / 100, mostBytes: Number.MAX_SAFE_INTEGER };
  return { share: 1, mostBytes: sizeBytes(text) };
}

function redisOr<Other>(url: string, other: (url: string) => Other): RedisStore | Other {
  return url.startsWith('redis') ? { kind: 'redis', url } : other(url);
}

function dataOf(data: File['Data'], { sqlite }: Paths, mode: Environment['mode']): DataConfig {
  const { cache, fallback, queries } = data;
  return {
    ...listenerOf(data),
    isPublicUrlNamed: data.publicUrl !== undefined,
    validateResponses: data.validateResponses ?? mode !== 'production',
    pages: data.pages,
    rateLimitPerMinute: data.rateLimit,
    pageRateLimitPerMinute: data.pageRateLimit,
    live: data.live,
    cache: {
      ttlMs: durationMs(cache.ttl),
      movingMs: cache.moving === undefined ? undefined : durationMs(cache.moving),
      unsettledMs: durationMs(cache.unsettled),
      memoryBytes: sizeBytes(cache.memory),
      store: cacheStoreOf(cache, sqlite),
      overridesMs: new Map(Object.entries(cache.overrides).map(([id, life]) => [id, durationMs(life)])),
    },
    fallback: { timeoutMs: durationMs(fallback.timeout), staggerMs: durationMs(fallback.stagger) },
    queries: { concurrency: queries.concurrency, memoryBytes: sizeBytes(queries.memory) },
    requestsPerQuerySecond: queries.secondCountsAs,
  };
}

function cacheStoreOf({ store, storeSize }: File['Data']['cache'], sqlite: Paths['sqlite']) {
  if (store === undefined) return undefined;
  return redisOr(store, url => ({ ...sqlite(url), sizeBytes: sizeBytes(storeSize) }));
}

/** The schema's default, which the validator has already filled in. */
const DEFAULT_DATABASE = 'sqlite:./var/payments.db';

function paymentsOf(payments: File['Payments'], { path, database }: Paths): PaymentsConfig {
  const { secretKey, secretKeyFile = './var/secret.key', mail, messenger } = payments;
  return {
    ...listenerOf(payments),
    database: database(payments.database, payments.postgres),
    hasDefaultDatabase: payments.database === DEFAULT_DATABASE,
    secretKey:
      secretKey === undefined
        ? { kind: 'file', file: path(secretKeyFile) }
        : { kind: 'value', value: secretKey },
    rateLimitPerMinute: payments.rateLimit,
    sessions: { expiresInMs: durationMs(payments.sessions.expiresIn) },
    requireProof: payments.requireProof,
    retention: { unpaidSessionsMs: durationMs(payments.retention.unpaidSessions) },
    webhooks: { ...payments.webhooks, disableAfterMs: disableAfterOf(payments.webhooks) },
    mail,
    mailFolder: path('./var/mail'),
    messenger: messenger && { ...messenger, apiRoot: withoutSlash(messenger.apiRoot) },
  };
}

function disableAfterOf({ disableAfter }: File['Payments']['webhooks']) {
  if (disableAfter === undefined) return undefined;
  const ms = durationMs(disableAfter);
  return { live: ms, test: ms };
}

function chainOf(chain: File['Chain'], postgres: File['Postgres'], paths: Paths): ChainConfig {
  return {
    ...chain,
    rpcMaxAnswerBytes: sizeBytes(chain.rpcMaxAnswer),
    depositAddresses: depositAddressesOf(chain),
    abis: chain.abis === undefined ? undefined : paths.path(chain.abis),
    names: chain.names,
    prices: chain.prices,
    backends: chain.backends.map(backend => backendOf(backend, { chainId: chain.id, postgres, paths })),
  };
}

/** On for test networks unless turned off, and off for all others unless accepted (Decision 397). */
function depositAddressesOf({
  testnet,
  depositAddresses = testnet,
}: File['Chain']): ChainConfig['depositAddresses'] {
  if (depositAddresses === false) return undefined;
  return { maxUnswept: depositAddresses === true ? undefined : depositAddresses.maxUnswept };
}

interface BackendContext {
  chainId: number;
  /** PostgreSQL settings of indexes. */
  postgres: File['Postgres'];
  paths: Paths;
}

function backendOf(
  backend: File['Backend'],
  { chainId, postgres, paths: { database: databaseOf } }: BackendContext,
): BackendConfig {
  if (backend.kind === 'index') {
    const { kind, database = `sqlite:./var/index-${chainId}.db`, fromBlock = 0 } = backend;
    return { kind, database: databaseOf(database, postgres), fromBlock };
  }
  const url = withoutSlash(backend.url);
  // `${KEY:-}` gives an empty key when the variable is not set.
  if (backend.kind === 'blockscout') return { kind: backend.kind, url, apiKey: backend.apiKey || undefined };
  return { kind: backend.kind, url, clientId: backend.clientId || undefined };
}

const EMBEDDED: File['Devnet'] = { chains: 2, blocks: 300, trickle: '5s', seed: 1, hardfork: 'prague' };

/** Embedded chains. They are the default when no chains are configured. */
function devnetOf({ devnet, chains }: File['ConfigFile']): DevnetConfig | undefined {
  const chosen = devnet ?? (chains.length === 0 ? EMBEDDED : undefined);
  if (chosen === undefined) return undefined;
  const { trickle, ...sizes } = chosen;
  return { ...sizes, trickleMs: durationMs(trickle) };
}

function listenerOf({ listen, publicUrl }: { listen: string; publicUrl?: string }) {
  const address = listenAddress(listen);
  const origin = address.port === 0 ? undefined : originOf(address);
  return { listen: address, publicUrl: publicUrl === undefined ? origin : withoutSlash(publicUrl) };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}
