import type { components } from '../../generated/config/types.ts';
import type { Role } from './roles.ts';
import type { Database, ListenAddress, PostgresDatabase, RedisStore, SqliteDatabase } from './units.ts';

type File = components['schemas'];

/**
 * The configuration as the process uses it: defaults filled in, durations in milliseconds, sizes in bytes, paths
 * absolute. What is absent by default is `undefined`.
 */
export interface Config {
  /** The file it was read from; undefined for the embedded default. */
  file: string | undefined;
  /** Where a setting such as `payments.database` stands: file, line and path. Only the path without a file. */
  placeOf(setting: string): string;
  /** Line of a setting, or of the nearest key around it that the file holds. */
  lineOf(setting: string): number | undefined;
  /** Where relative paths start: the file's folder, else the working directory. */
  directory: string;
  /** What the process does: at least one. */
  roles: readonly Role[];
  /** Processes that share the listeners. */
  workers: number;
  data: DataConfig;
  payments: PaymentsConfig;
  admin: { listen: ListenAddress };
  server: {
    /** Open connections at a time; undefined for as many as the process can hold. */
    maxConnections: number | undefined;
    maxConnectionsPerAddress: number;
    /** Time that requests have to finish once the process is told to stop. */
    drainMs: number;
  };
  /** CIDRs or single addresses. */
  trustedProxies: readonly string[];
  /** Where all processes count requests together; undefined for the memory of each. */
  rateLimitStore: RedisStore | PostgresDatabase | undefined;
  /** Without a slash at the end. */
  ipfsGateway: string;
  /** In the order of fallback. The embedded chains are not among them. */
  chains: readonly ChainConfig[];
  devnet: DevnetConfig | undefined;
  log: File['ConfigFile']['log'];
}

export interface DataConfig {
  listen: ListenAddress;
  /** Without a slash at the end; undefined only when it is not configured and the port is 0. */
  publicUrl: string | undefined;
  /** True when the file names it, so that it holds for other processes, too. */
  isPublicUrlNamed: boolean;
  validateResponses: boolean;
  /** True to serve the pages for people. */
  pages: boolean;
  /** Requests a minute and client address. */
  rateLimitPerMinute: number;
  cache: {
    ttlMs: number;
    /** Undefined takes the defaults, which differ for back ends with a key. */
    movingMs: number | undefined;
    unsettledMs: number;
    memoryBytes: number;
    store: SqliteDatabase | RedisStore | undefined;
    /** Milliseconds by operationId. */
    overridesMs: ReadonlyMap<string, number>;
  };
  fallback: { timeoutMs: number; staggerMs: number };
  /** Budget of queries on indexes. */
  queries: { concurrency: number; memoryBytes: number };
}

export interface PaymentsConfig {
  listen: ListenAddress;
  /** As in `DataConfig`. */
  publicUrl: string | undefined;
  database: Database;
  /** Whether the database is the one of a configuration that names none. */
  hasDefaultDatabase: boolean;
  /** The key that encrypts secrets at rest, or the file it is in. */
  secretKey: { kind: 'file'; file: string } | { kind: 'value'; value: string };
  /** Requests a minute and API key. */
  rateLimitPerMinute: { standard: number; elevated: number };
  sessions: { expiresInMs: number };
  retention: { unpaidSessionsMs: number };
  webhooks: { concurrencyPerEndpoint: number; allowedNetworks: readonly string[]; allowHttp: boolean };
  mail: { smtp: string; from: string } | undefined;
  /** Where mails are written when there is no mail server. */
  mailFolder: string;
  messenger: { token: string; apiRoot: string; mode: 'polling' } | undefined;
}

export interface ChainConfig {
  id: number;
  name: string;
  native: { symbol: string; decimals: number; wrapped?: string };
  rpc: readonly string[];
  confirmations: number;
  testnet: boolean;
  /** A folder. */
  abis: string | undefined;
  tokens: readonly { address: string; symbol: string; decimals: number }[];
  names: { registry: string } | undefined;
  prices: { usdToken: string; factory: string } | undefined;
  backends: readonly BackendConfig[];
}

/** `url` has no slash at the end. */
export type BackendConfig =
  | { kind: 'blockscout'; url: string; apiKey: string | undefined }
  | { kind: 'insight'; url: string; clientId: string | undefined }
  | { kind: 'index'; database: Database; fromBlock: number };

export interface DevnetConfig {
  chains: number;
  blocks: number;
  /** 0: no new blocks by themselves. */
  trickleMs: number;
  seed: number;
  /** Undefined for anvil where there is one, else EDR. */
  engine?: File['Devnet']['engine'];
}
