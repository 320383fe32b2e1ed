import { stringify } from 'yaml';

/** What one configuration file of the whole fleet names. */
export interface Surroundings {
  readonly postgresUrl: string;
  readonly redisUrl: string;
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly token: string;
}

/** Seals what the run keeps, which goes with it. */
const SECRET_KEY = 'seals-nothing-but-what-a-fleet-keeps-and-drops';
const UNLIMITED = 1_000_000;
/** Connections of a process, so that ten of them fit PostgreSQL's 200. */
const POOL = 5;

/** The configuration that all processes share; each has its ports and its role from outside. */
export function configuration({ postgresUrl, redisUrl, rpcUrl, chainId, token }: Surroundings): string {
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
    chains: [
      {
        id: chainId,
        name: 'Fleet',
        native: { symbol: 'ETH', decimals: 18 },
        rpc: [rpcUrl],
        confirmations: 2,
        testnet: true,
        tokens: [{ address: token, symbol: 'USDS', decimals: 6 }],
        backends: [{ kind: 'index', database: postgresUrl, fromBlock: 0 }],
      },
    ],
    log: { requests: 'none' },
  });
}
