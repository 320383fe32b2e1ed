import type { BackendConfig, ChainConfig, Config } from '../config/config.ts';
import { ConfigError } from '../config/config-error.ts';
import { lowerCase } from '../evm/address.ts';
import { type KnownContracts, readKnownContracts } from './abi-files/known-contracts.ts';
import type { ServedChain } from './open-chain.ts';

/** Poll interval of an index on a real chain, in milliseconds. */
const POLL_MS = 1_000;
/** Freshness of feeds and statistics from HTTP back ends, in milliseconds; longer if requests are charged to a key. */
const MOVING_MS = 15_000;
const METERED_MS = 60_000;

/**
 * Reads the data service's options from a checked configuration, including the ABI folders it names. `embedded` are
 * chains of this process itself.
 * @throws ConfigError for ABIs that cannot be read.
 */
export function dataServiceOptions(config: Config, embedded: readonly ServedChain[]) {
  const { data, log, trustedProxies } = config;
  const known = config.chains.map(({ abis, id }) =>
    abis === undefined ? NOTHING_KNOWN : readKnownContracts(abis, id),
  );
  const findings = known.flatMap(({ problems }, index) =>
    problems.map(message => ({ path: `chains[${index}].abis`, line: undefined, message })),
  );
  if (findings.length > 0) throw new ConfigError(config.file ?? 'the configuration', findings);
  return {
    host: data.listen.host,
    port: data.listen.port,
    publicUrl: data.publicUrl,
    chains: [
      ...config.chains.map((chain, index) =>
        servedChain(chain, known[index] ?? NOTHING_KNOWN, {
          setting: `chains[${index}]`,
          isReadOnly: !config.roles.includes('indexer'),
        }),
      ),
      ...embedded,
    ],
    cache: {
      maxBytes: data.cache.memoryBytes,
      store: data.cache.store,
      lifetimes: {
        finalMs: data.cache.ttlMs,
        movingMs: data.cache.movingMs ?? MOVING_MS,
        meteredMs: data.cache.movingMs ?? METERED_MS,
        unsettledMs: data.cache.unsettledMs,
        overrides: Object.fromEntries(data.cache.overridesMs),
      },
    },
    diskSpace: { reserve: config.diskReserve },
    ipfsGateway: config.ipfsGateway,
    fallback: data.fallback,
    queries: data.queries,
    validateResponses: data.validateResponses,
    pages: data.pages,
    rateLimitPerMinute: data.rateLimitPerMinute,
    pageRateLimitPerMinute: data.pageRateLimitPerMinute,
    requestsPerQuerySecond: data.requestsPerQuerySecond,
    live: data.live,
    loggedRequests: log.requests,
    trustedProxies,
  };
}

const NOTHING_KNOWN: KnownContracts = { contracts: [], problems: [] };

function servedChain(
  { id, name, native, confirmations, rpc, rpcMaxAnswerBytes, backends, prices, names }: ChainConfig,
  { contracts }: KnownContracts,
  at: BackendSetting,
): ServedChain {
  return {
    id,
    name,
    native: { symbol: native.symbol, decimals: native.decimals },
    confirmations,
    rpcUrls: rpc,
    maxAnswerBytes: rpcMaxAnswerBytes,
    abis: contracts,
    prices: prices && {
      usdToken: lowerCase(prices.usdToken),
      factory: lowerCase(prices.factory),
      ...(native.wrapped !== undefined && {
        native: { symbol: native.symbol, wrapped: lowerCase(native.wrapped) },
      }),
    },
    names: names && { registry: lowerCase(names.registry), readsGateways: names.gateways },
    backends: backends.map((backend, index) =>
      backendOptions(backend, { ...at, setting: `${at.setting}.backends[${index}]` }),
    ),
  };
}

/** Path of a chain or a back end in the configuration. `isReadOnly` is true when other processes write the indexes. */
interface BackendSetting {
  readonly setting: string;
  readonly isReadOnly: boolean;
}

function backendOptions(
  backend: BackendConfig,
  { setting, isReadOnly }: BackendSetting,
): ServedChain['backends'][number] {
  if (backend.kind !== 'index') return backend;
  return { ...backend, pollMs: POLL_MS, setting: `${setting}.database`, isReadOnly };
}
