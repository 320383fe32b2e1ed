import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import ipaddr from 'ipaddr.js';
import type { components } from '../../generated/config/types.ts';
import { addressFault, ESCAPES } from '../db/postgres/address.ts';
import { DAY_MS } from '../lib/clock.ts';
import type { Steps, Violation } from './config-error.ts';
import { depositRelations } from './deposit-relations.ts';
import { durationMs, listenAddress, sizeBytes } from './units.ts';

type File = components['schemas']['ConfigFile'];

const FIRST_EMBEDDED_ID = 31_337;
const SHORTEST_RETENTION_MS = 2 * DAY_MS;
const LEAST_QUERY_MB = 256;
const LEAST_STORE_MB = 64;
/** A timer of Node.js above 2^31 - 1 ms fires at once. The rest is for pauses that the program adds to a setting. */
const LONGEST_TIMER_MS = 24 * DAY_MS;

/**
 * Validates rules that a schema cannot express: relations between settings, and well-formed but unusable values.
 */
export function relationsOf(file: File, directory: string): Violation[] {
  return [
    ...listeners(file),
    ...addresses(file),
    ...databaseAddresses(file),
    ...redisAddresses(file),
    ...origins(file),
    ...networks(file),
    ...timers(file),
    ...retention(file),
    ...proofs(file),
    ...depositRelations(file.chains),
    ...queries(file),
    ...storeSize(file),
    ...chains(file),
    ...databases(file, directory),
    ...certificates(file, directory),
    ...(file.payments.secretKey !== undefined && file.payments.secretKeyFile !== undefined
      ? [fault(['payments', 'secretKey'], 'cannot be combined with secretKeyFile')]
      : []),
  ];
}

function proofs({ payments, chains }: File): Violation[] {
  if (!payments.requireProof) return [];
  return chains.flatMap(({ prove, rpc }, index) =>
    prove === 'off' && rpc.length > 0
      ? [fault(['chains', index, 'prove'], 'cannot be off with payments.requireProof')]
      : [],
  );
}

function listeners({ data, payments, admin }: File): Violation[] {
  const all: [Steps, string][] = [
    [['data', 'listen'], data.listen],
    [['payments', 'listen'], payments.listen],
    [['admin', 'listen'], admin.listen],
  ];
  const ports = all.map(([steps, listen]): [Steps, string] => [
    steps,
    listenAddress(listen).port === 0 ? '' : listen,
  ]);
  return [
    ...all
      .filter(([, listen]) => listenAddress(listen).port > 65_535)
      .map(([steps]) => fault(steps, 'must have a port up to 65535')),
    ...repeated(ports, 'is used by another listener'),
  ];
}

function addresses({ data, payments, ipfsGateway, chains: all }: File): Violation[] {
  const urls: [Steps, string | undefined][] = [
    [['data', 'publicUrl'], data.publicUrl],
    [['payments', 'publicUrl'], payments.publicUrl],
    [['payments', 'mail', 'smtp'], payments.mail?.smtp],
    [['payments', 'messenger', 'apiRoot'], payments.messenger?.apiRoot],
    [['ipfsGateway'], ipfsGateway],
    ...all.flatMap(({ rpc, backends }, chain): [Steps, string | undefined][] => [
      ...rpc.map((url, index): [Steps, string] => [['chains', chain, 'rpc', index], url]),
      ...backends.map((backend, index): [Steps, string | undefined] => [
        ['chains', chain, 'backends', index, 'url'],
        'url' in backend ? backend.url : undefined,
      ]),
    ]),
  ];
  return urls
    .filter(([, url]) => url !== undefined && !URL.canParse(url))
    .map(([steps]) => fault(steps, 'is not a valid URL'));
}

function databaseAddresses({ data, payments, rateLimitStore, chains: all }: File): Violation[] {
  const urls: [Steps, string | undefined][] = [
    [['payments', 'database'], payments.database],
    [['payments', 'postgres', 'listenUrl'], payments.postgres.listenUrl],
    [['data', 'postgres', 'listenUrl'], data.postgres.listenUrl],
    [['rateLimitStore'], rateLimitStore],
    ...indexDatabases(all).map(({ steps, url }): [Steps, string] => [steps, url]),
  ];
  return urls.flatMap(([steps, url]) => {
    const wrong = url?.startsWith('postgres') === true ? addressFault(url) : undefined;
    return wrong === undefined ? [] : [fault(steps, wrong)];
  });
}

function redisAddresses({ data, rateLimitStore }: File): Violation[] {
  const urls: [Steps, string | undefined][] = [
    [['data', 'cache', 'store'], data.cache.store],
    [['rateLimitStore'], rateLimitStore],
  ];
  return urls
    .filter(([, url]) => !isRedisAddress(url))
    .map(([steps]) =>
      fault(steps, `is not a valid address of a Redis, such as redis://host:6379/0; ${ESCAPES}`),
    );
}

function isRedisAddress(url: string | undefined): boolean {
  if (url?.startsWith('redis') !== true) return true;
  if (!URL.canParse(url)) return false;
  const { hostname, pathname } = new URL(url);
  return hostname !== '' && /^(\/\d*)?$/.test(pathname);
}

/** Rejects a path: the pay page calls its own origin by absolute paths, so it would not work below a path. */
function origins({ payments: { publicUrl } }: File): Violation[] {
  const hasPath =
    publicUrl !== undefined && URL.canParse(publicUrl) && !/^\/?$/.test(new URL(publicUrl).pathname);
  return hasPath ? [fault(['payments', 'publicUrl'], 'must have no path')] : [];
}

function networks({ trustedProxies, payments }: File): Violation[] {
  const all: [Steps, string][] = [
    ...trustedProxies.map((cidr, index): [Steps, string] => [['trustedProxies', index], cidr]),
    ...payments.webhooks.allowedNetworks.map((cidr, index): [Steps, string] => [
      ['payments', 'webhooks', 'allowedNetworks', index],
      cidr,
    ]),
  ];
  return all
    .filter(([, cidr]) => !isNetwork(cidr))
    .map(([steps]) => fault(steps, 'must be a network such as 10.0.0.0/8, or one address'));
}

function isNetwork(cidr: string): boolean {
  const [address = '', bits] = cidr.split('/');
  if (!ipaddr.IPv4.isValidFourPartDecimal(address) && !ipaddr.IPv6.isValid(address)) return false;
  return bits === undefined || ipaddr.isValidCIDR(cidr);
}

function timers({ data, payments, server, devnet }: File): Violation[] {
  const all: [Steps, string][] = [
    [['data', 'fallback', 'timeout'], data.fallback.timeout],
    [['data', 'fallback', 'stagger'], data.fallback.stagger],
    [['payments', 'sessions', 'expiresIn'], payments.sessions.expiresIn],
    [['server', 'drain'], server.drain],
    [['server', 'lameDuck'], server.lameDuck ?? '0s'],
    ...Object.entries({ data, payments }).flatMap(([service, { postgres }]): [Steps, string][] => [
      [[service, 'postgres', 'statementTimeout'], postgres.statementTimeout],
      [[service, 'postgres', 'lockTimeout'], postgres.lockTimeout],
    ]),
    [['devnet', 'trickle'], devnet?.trickle ?? '0s'],
  ];
  return all
    .filter(([, duration]) => durationMs(duration) > LONGEST_TIMER_MS)
    .map(([steps]) => fault(steps, 'must be at most 24d'));
}

/**
 * Checks the memory for queries. There are two threads per long query. With less memory, no thread could hold the
 * largest allowed answer.
 */
function queries({ data: { queries: budget } }: File): Violation[] {
  const least = budget.concurrency * LEAST_QUERY_MB;
  if (sizeBytes(budget.memory) >= least * 1_000_000) return [];
  return [
    fault(
      ['data', 'queries', 'memory'],
      `must be at least ${least}MB for ${budget.concurrency} long queries at a time`,
    ),
  ];
}

/** Checks the size of the cache's file. A smaller one would have too little room for its log. */
function storeSize({ data: { cache } }: File): Violation[] {
  if (sizeBytes(cache.storeSize) >= LEAST_STORE_MB * 1_000_000) return [];
  return [fault(['data', 'cache', 'storeSize'], `must be at least ${LEAST_STORE_MB}MB`)];
}

/** Checks the retention of unpaid sessions. They are matched with late payments for a day after their end. */
function retention({ payments }: File): Violation[] {
  const isShort = durationMs(payments.retention.unpaidSessions) < SHORTEST_RETENTION_MS;
  return isShort ? [fault(['payments', 'retention', 'unpaidSessions'], 'must be at least 2d')] : [];
}

function chains({ chains: all, devnet }: File): Violation[] {
  const embedded = Array.from({ length: devnet?.chains ?? 0 }, (_, index) => FIRST_EMBEDDED_ID + index);
  return [
    ...repeated(
      all.map(({ id }, index) => [['chains', index, 'id'], String(id)]),
      'is the id of another chain',
    ),
    ...all.flatMap(({ id, rpc, backends }, index) => [
      ...(embedded.includes(id) ? [fault(['chains', index, 'id'], 'is the id of an embedded chain')] : []),
      ...(rpc.length + backends.length === 0 ? [fault(['chains', index], 'needs rpc or backends')] : []),
      ...backends.flatMap(({ kind }, position) =>
        kind === 'index' && rpc.length === 0
          ? [fault(['chains', index, 'backends', position], "needs the chain's rpc")]
          : [],
      ),
    ]),
  ];
}

/** Rejects two databases in one SQLite file, because each would find the other's tables. */
function databases({ data, payments, chains: all }: File, directory: string): Violation[] {
  const urls: [Steps, string | undefined][] = [
    [['payments', 'database'], payments.database],
    [['data', 'cache', 'store'], data.cache.store],
    ...indexDatabases(all).map(({ steps, url }): [Steps, string] => [steps, url]),
  ];
  const files = urls.map(([steps, url]): [Steps, string] => {
    const isFile = url?.startsWith('sqlite:') === true && url !== 'sqlite::memory:';
    return [steps, isFile ? resolve(directory, url.slice('sqlite:'.length)) : ''];
  });
  return [...repeated(files, 'is the file of another database'), ...indexesTwice(all)];
}

/** Rejects two indexes of one chain in a PostgreSQL database, because they would use the same schema. */
function indexesTwice(all: File['chains']): Violation[] {
  const indexes = indexDatabases(all).map(({ steps, url, chainId }): [Steps, string] => [
    steps,
    url.startsWith('postgres') ? `${chainId} ${url}` : '',
  ]);
  return repeated(indexes, 'holds an index of this chain already');
}

interface IndexDatabase {
  readonly steps: Steps;
  readonly url: string;
  readonly chainId: number;
}

function indexDatabases(all: File['chains']): IndexDatabase[] {
  return all.flatMap(({ id: chainId, backends }, chain) =>
    backends.flatMap((backend, index): IndexDatabase[] => {
      if (backend.kind !== 'index') return [];
      const { database: url = `sqlite:./var/index-${chainId}.db` } = backend;
      return [{ steps: ['chains', chain, 'backends', index, 'database'], url, chainId }];
    }),
  );
}

function certificates({ data, payments }: File, directory: string): Violation[] {
  return Object.entries({ data, payments }).flatMap(
    ([
      service,
      {
        postgres: { tls = {} },
      },
    ]) => {
      const path = [service, 'postgres', 'tls'];
      const unreadable = Object.entries(tls).filter(([, file]) => !isReadable(resolve(directory, file)));
      return [
        ...unreadable.map(([name]) => fault([...path, name], 'must be a readable file')),
        ...((tls.cert === undefined) === (tls.key === undefined)
          ? []
          : [fault(path, 'needs both cert and key, or neither')]),
      ];
    },
  );
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** Rejects repeated values, except the first of each. Ignores empty values. */
function repeated(values: readonly [Steps, string][], message: string): Violation[] {
  const seen = new Set<string>(['']);
  return values.flatMap(([steps, value]) => {
    if (value !== '' && seen.has(value)) return [fault(steps, message)];
    seen.add(value);
    return [];
  });
}

function fault(steps: Steps, message: string): Violation {
  return { steps, message };
}
