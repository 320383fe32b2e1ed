import type { components } from '#generated/config/types.ts';
import type { Database, ListenAddress, PostgresDatabase, RedisStore, SqliteDatabase } from './units.ts';

type File = components['schemas'];

/**
 * Configuration as the process uses it: with defaults, durations in milliseconds, sizes in bytes, and absolute paths.
 * A setting that is absent by default is `undefined`.
 */
export interface Config {
  /** Path of the configuration file; undefined for the embedded default. */
  file: string | undefined;
  /** Location of a setting such as `payments.database`: file, line and path. Only the path when there is no file. */
  locationOf(setting: string): string;
  /** Line of a setting, or of its nearest parent key in the file. */
  lineOf(setting: string): number | undefined;
  /** Base of relative paths: the file's folder, otherwise the working directory. */
  directory: string;
  /** Roles of the process; at least one. */
  roles: readonly Role[];
  /** Number of processes that share the listeners. */
  workers: number;
  data: DataConfig;
  payments: PaymentsConfig;
  /** `hosts`: names by which the operator reaches the listener, `*.` for all names below one. */
  admin: { listen: ListenAddress; hosts: readonly string[] };
  server: {
    /** Maximum number of open connections; undefined for as many as the process can handle. */
    maxConnections: number | undefined;
    maxConnectionsPerAddress: number;
    /** Time for requests to finish after the process is asked to stop. */
    drainMs: number;
    /** Time before that in which the process is not ready and still answers. */
    lameDuckMs: number;
  };
  /** CIDR networks or single addresses. */
  trustedProxies: readonly string[];
  /** Store in which all processes count requests together; undefined for each process's own memory. */
  rateLimitStore: RedisStore | PostgresDatabase | undefined;
  /** Free disk space that caches and indexes leave: a share of the file system, from 0 to 1, up to `mostBytes`. */
  diskReserve: { share: number; mostBytes: number };
  /** Without a trailing slash. */
  ipfsGateway: string;
  /** Configured chains, without the embedded ones. */
  chains: readonly ChainConfig[];
  devnet: DevnetConfig | undefined;
  log: File['ConfigFile']['log'];
}

export interface DataConfig {
  listen: ListenAddress;
  /** Without a trailing slash. Undefined only when it is not configured and the port is 0. */
  publicUrl: string | undefined;
  /** True when the file sets it, so that it applies to other processes too. */
  isPublicUrlNamed: boolean;
  validateResponses: boolean;
  /** True to serve the HTML pages. */
  pages: boolean;
  /** API requests per minute and client address. */
  rateLimitPerMinute: number;
  /** Requests for pages per minute and client address. */
  pageRateLimitPerMinute: number;
  /** Open streams of live events of a process, and of one client address in it. */
  live: { streams: number; streamsPerClient: number };
  cache: {
    ttlMs: number;
    /** Undefined for the defaults, which differ for back ends with a key. */
    movingMs: number | undefined;
    unsettledMs: number;
    memoryBytes: number;
    /** `sizeBytes` is the maximum size of the file on disk. */
    store: (SqliteDatabase & { sizeBytes: number }) | RedisStore | undefined;
    /** Milliseconds by `operationId`. */
    overridesMs: ReadonlyMap<string, number>;
  };
  fallback: { timeoutMs: number; staggerMs: number };
  /** Limits of queries on indexes. */
  queries: { concurrency: number; memoryBytes: number };
  /** Number of requests as which a second of query time counts. */
  requestsPerQuerySecond: number;
}

export interface PaymentsConfig {
  listen: ListenAddress;
  /** Same rules as in `DataConfig`. */
  publicUrl: string | undefined;
  database: Database;
  /** True when the file names no database, or the default one. */
  hasDefaultDatabase: boolean;
  /** Key that encrypts secrets at rest, or the file that holds it. */
  secretKey: { kind: 'file'; file: string } | { kind: 'value'; value: string };
  /** Requests per minute and API key. */
  rateLimitPerMinute: { standard: number; elevated: number };
  sessions: { expiresInMs: number };
  /** True when payments without a proof wait for the merchant. */
  requireProof: boolean;
  retention: { unpaidSessionsMs: number };
  webhooks: {
    concurrencyPerEndpoint: number;
    allowedNetworks: readonly string[];
    allowHttp: boolean;
    /** Undefined for the defaults, which differ by mode. */
    disableAfterMs: { live: number; test: number } | undefined;
  };
  mail: { smtp: string; from: string } | undefined;
  /** Folder for mails when there is no mail server. */
  mailFolder: string;
  messenger: { token: string; apiRoot: string; mode: 'polling' } | undefined;
}

export interface ChainConfig {
  id: number;
  name: string;
  native: { symbol: string; decimals: number; wrapped?: string };
  rpc: readonly string[];
  /** Most bytes of one answer of a node. */
  rpcMaxAnswerBytes: number;
  confirmations: number;
  /** False when payments read no traces of blocks. */
  traceCoins: boolean;
  /** Payments that are proven by their blocks. */
  prove: File['Chain']['prove'];
  testnet: boolean;
  /** Undefined for a chain without deposit addresses. `maxUnswept` has decimal amounts by symbol. */
  depositAddresses: { maxUnswept: Readonly<Record<string, string>> | undefined } | undefined;
  /** Folder of ABI files. */
  abis: string | undefined;
  tokens: readonly { address: string; symbol: string; decimals: number }[];
  /** `gateways` allows requests to the gateways that resolvers name (EIP-3668). */
  names: { registry: string; gateways: boolean } | undefined;
  prices: { usdToken: string; factory: string } | undefined;
  backends: readonly BackendConfig[];
}

/** `url` has no trailing slash. */
export type BackendConfig =
  | { kind: 'blockscout'; url: string; apiKey: string | undefined }
  | { kind: 'insight'; url: string; clientId: string | undefined }
  | { kind: 'index'; database: Database; fromBlock: number };

export interface DevnetConfig {
  chains: number;
  blocks: number;
  /** 0 for no automatic blocks. */
  trickleMs: number;
  seed: number;
  /** Undefined for anvil if it is available, otherwise EDR. */
  engine?: File['Devnet']['engine'];
  hardfork: File['Devnet']['hardfork'];
}

/** Kind of work that a process does. A process can have several roles (Decision 257). */
export type Role = components['schemas']['ConfigFile']['roles'][number];

/** Roles by service, for `--only`. */
export const ROLES_OF = {
  data: ['data', 'indexer'],
  payments: ['payments', 'settlement', 'delivery'],
} as const satisfies Readonly<Record<'data' | 'payments', readonly Role[]>>;

/** All roles. */
export const ROLES: readonly Role[] = [...ROLES_OF.data, ...ROLES_OF.payments];

/** Addresses at which a process with the configured roles listens, by setting. */
export function listenersOf({ data, payments, admin, roles }: Config): ReadonlyMap<string, ListenAddress> {
  return new Map([
    ...(roles.includes('data') ? [['data.listen', data.listen] as const] : []),
    ...(roles.includes('payments') ? [['payments.listen', payments.listen] as const] : []),
    ['admin.listen', admin.listen],
  ]);
}
