import type { BackendConfig, ChainConfig, Config } from '../config/config.ts';
import { ConfigError, type Finding } from '../config/config-error.ts';
import { type KnownContracts, readKnownContracts } from './abis/known-contracts.ts';
import type { ServedChain } from './open-chain.ts';
import type { DataServiceOptions } from './service.ts';

/** How often an index looks for a new block of a real chain. */
const POLL_MS = 1_000;

/** The part of the data service's options that a configuration decides. */
export type ConfiguredOptions = Omit<DataServiceOptions, 'metrics' | 'clock' | 'log'>;

/**
 * Reads the data service's options from a checked configuration; `embedded` are chains of this process itself.
 * Reads the folders of ABIs that it names.
 * @throws ConfigError for ABIs that cannot be read, and for what this version does not serve yet.
 */
export function dataServiceOptions(config: Config, embedded: readonly ServedChain[]): ConfiguredOptions {
  const { data, trustedProxies } = config;
  const known = config.chains.map(({ abis, id }) =>
    abis === undefined ? NOTHING_KNOWN : readKnownContracts(abis, id),
  );
  const findings = [
    ...notServed(config),
    ...known.flatMap(({ problems }, index) =>
      problems.map(message => ({ path: `chains[${index}].abis`, line: undefined, message })),
    ),
  ];
  if (findings.length > 0) throw new ConfigError(config.file ?? 'the configuration', findings);
  const { store } = data.cache;
  return {
    host: data.listen.host,
    port: data.listen.port,
    publicUrl: data.publicUrl,
    chains: [
      ...config.chains.map((chain, index) => servedChain(chain, known[index] ?? NOTHING_KNOWN)),
      ...embedded,
    ],
    cache: {
      maxBytes: data.cache.memoryBytes,
      file: store?.kind === 'sqlite' ? store.file : undefined,
      lifetimes: {
        finalMs: data.cache.ttlMs,
        movingMs: data.cache.movingMs,
        unsettledMs: data.cache.unsettledMs,
        overrides: Object.fromEntries(data.cache.overridesMs),
      },
    },
    fallback: data.fallback,
    validateResponses: data.validateResponses,
    rateLimitPerMinute: data.rateLimitPerMinute,
    trustedProxies,
  };
}

const NOTHING_KNOWN: KnownContracts = { contracts: [], problems: [] };

function servedChain(
  { id, name, confirmations, rpc, backends }: ChainConfig,
  { contracts }: KnownContracts,
): ServedChain {
  return {
    id,
    name,
    confirmations,
    rpcUrls: rpc,
    abis: contracts,
    backends: backends.flatMap(backendOptions),
  };
}

function backendOptions(backend: BackendConfig): ServedChain['backends'] {
  const { kind } = backend;
  if (kind === 'blockscout') return [{ kind, url: backend.url, apiKey: backend.apiKey }];
  if (kind === 'insight') return [];
  return [{ kind, file: backend.database.file, fromBlock: backend.fromBlock, pollMs: POLL_MS }];
}

function notServed({ chains, data }: Config): Finding[] {
  const at = (path: string, what: string): Finding => ({
    path,
    line: undefined,
    message: `${what} is not served by this version`,
  });
  return [
    ...(data.cache.store?.kind === 'redis' ? [at('data.cache.store', 'a Redis store')] : []),
    ...chains.flatMap((chain, index) => [
      ...chain.backends.flatMap((backend, position) =>
        backend.kind !== 'insight'
          ? []
          : [at(`chains[${index}].backends[${position}].kind`, `a back end of kind ${backend.kind}`)],
      ),
    ]),
  ];
}
