import { stringify } from 'yaml';

/** Values in the configuration file of the fleet. */
export interface Surroundings {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly chains: readonly { readonly id: number; readonly rpcUrl: string; readonly token: string }[];
}

/** Secret key of the run. It protects nothing, because the data of the run is deleted. */
const SECRET_KEY = 'seals-nothing-but-what-a-fleet-keeps-and-drops';
const UNLIMITED = 1_000_000;
/** Connections per process, so that ten processes stay below the 200 of PostgreSQL. */
const POOL = 5;

/** Configuration that all processes share. Ports come from the environment, and roles from the command line. */
export function configuration({ postgresUrl, redisUrl, chains }: Surroundings): string {
  return stringify({
    data: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
      listen: '127.0.0.1:${DATA_PORT}',
      pages: false,
      rateLimit: UNLIMITED,
      cache: { store: redisUrl },
      postgres: { pool: POOL },
    },
    payments: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
      listen: '127.0.0.1:${PAYMENTS_PORT}',
      database: postgresUrl,
      postgres: { pool: POOL },
      secretKey: SECRET_KEY,
      rateLimit: { standard: UNLIMITED, elevated: UNLIMITED },
      webhooks: { allowedNetworks: ['127.0.0.0/8'], allowHttp: true },
    },
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the program reads it from the environment
    admin: { listen: '127.0.0.1:${ADMIN_PORT}' },
    rateLimitStore: redisUrl,
    chains: chains.map(({ id, rpcUrl, token }) => ({
      id,
      name: `Chain ${id}`,
      native: { symbol: 'ETH', decimals: 18 },
      rpc: [rpcUrl],
      confirmations: 2,
      testnet: true,
      tokens: [{ address: token, symbol: 'USDS', decimals: 6 }],
      backends: [{ kind: 'index', database: postgresUrl, fromBlock: 0 }],
    })),
    log: { requests: 'none' },
  });
}
