import { stringify } from 'yaml';

/** Values in a configuration file of the fleet. */
export interface Surroundings {
  /** Database of the payments platform. */
  readonly paymentsUrl: string;
  /** Its address without a pooler, for notifications; that of the database when absent. */
  readonly listenUrl?: string;
  /** True when a load balancer on this machine is in front of the processes. */
  readonly isBalanced?: boolean;
  /** Database of all indexes. */
  readonly indexUrl: string;
  /** Shared cache and counters; undefined when one process has its own. */
  readonly redisUrl?: string;
  readonly chains: readonly ConfiguredChain[];
}

/** A chain in a configuration file. */
export interface ConfiguredChain {
  readonly id: number;
  /** Address of its node for the program. */
  readonly rpcUrl: string;
  /** Other nodes, which are asked when the first one fails. */
  readonly otherRpcUrls?: readonly string[];
  /** `prove` of the chain; the default when absent. */
  readonly prove?: string | undefined;
  /** `traceCoins` of the chain; the default when absent. */
  readonly traceCoins?: boolean;
  readonly tokens: readonly string[];
  /** Registry of names, if the chain has one. */
  readonly registry?: string;
  /** Maximum size of an answer of the node; the default when absent. */
  readonly maxAnswer?: string | undefined;
}

/** Secret key of the run. It protects nothing, because the data of the run is deleted. */
const SECRET_KEY = 'seals-nothing-but-what-a-fleet-keeps-and-drops';
const UNLIMITED = 1_000_000;
/** Connections per process, so that ten processes stay below the 200 of PostgreSQL. */
const POOL = 5;

/** Configuration that all processes share. Ports come from the environment, and roles from the command line. */
export function configuration({
  paymentsUrl,
  listenUrl,
  isBalanced = false,
  indexUrl,
  redisUrl,
  chains,
}: Surroundings): string {
  const postgres = { pool: POOL, ...(listenUrl === undefined ? {} : { listenUrl }) };
  return stringify({
    data: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
      listen: '127.0.0.1:${DATA_PORT}',
      pages: false,
      rateLimit: UNLIMITED,
      ...(redisUrl === undefined ? {} : { cache: { store: redisUrl } }),
      postgres,
    },
    payments: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
      listen: '127.0.0.1:${PAYMENTS_PORT}',
      database: paymentsUrl,
      postgres,
      secretKey: SECRET_KEY,
      rateLimit: { standard: UNLIMITED, elevated: UNLIMITED },
      webhooks: { allowedNetworks: ['127.0.0.0/8'], allowHttp: true },
    },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
    admin: { listen: '127.0.0.1:${ADMIN_PORT}' },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
    ...(isBalanced ? { trustedProxies: ['127.0.0.1'], server: { lameDuck: '${LAME_DUCK}' } } : {}),
    ...(redisUrl === undefined ? {} : { rateLimitStore: redisUrl }),
    chains: chains.map(
      ({ id, rpcUrl, otherRpcUrls = [], prove, traceCoins, tokens, registry, maxAnswer }) => ({
        id,
        name: `Chain ${id}`,
        native: { symbol: 'ETH', decimals: 18 },
        rpc: [rpcUrl, ...otherRpcUrls],
        ...(prove === undefined ? {} : { prove }),
        ...(traceCoins === undefined ? {} : { traceCoins }),
        ...(maxAnswer === undefined ? {} : { rpcMaxAnswer: maxAnswer }),
        confirmations: 2,
        testnet: true,
        tokens: tokens.map((address, index) => ({ address, symbol: `USD${index}`, decimals: 6 })),
        ...(registry === undefined ? {} : { names: { registry } }),
        backends: [{ kind: 'index', database: indexUrl, fromBlock: 0 }],
      }),
    ),
    log: { requests: 'none' },
  });
}
