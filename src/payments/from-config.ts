import { join } from 'node:path';
import { parseUnits } from 'viem';
import type { ChainConfig, Config } from '../config/config.ts';
import { type DepositRules, NATIVE_COIN, normalToken, type PaymentToken } from './model/payment-chain.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import type { PaymentsServiceOptions, WatchedChain } from './service.ts';

/** Options of the payments service that come from the configuration. */
export type ConfiguredOptions = Omit<PaymentsServiceOptions, 'metrics' | 'clock' | 'log' | 'connections'>;

/** Embedded chains of this process, and their settings for payments. */
export interface EmbeddedPayments {
  readonly chains: readonly {
    readonly id: number;
    readonly name: string;
    readonly rpcUrl: string;
    readonly tokens: readonly PaymentToken[];
  }[];
  /** Temporary folder that is removed when the process ends. */
  readonly folder: string;
  /** Address of an account that receives only payments. */
  readonly merchant: string;
}

/** Confirmations on an embedded chain. One is enough to show the confirming state, and is quickly reached. */
const EMBEDDED_CONFIRMATIONS = 1;
const EMBEDDED_COIN: PaymentToken = { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 };

/**
 * Derives the options of the payments service from a checked configuration. A chain without `rpc` cannot be watched, so
 * it takes no payments. `dataUrl` is the address of the data service in this process, if there is one. Without it,
 * explorer links lead to the configured `data.publicUrl`, if any. `data.validateResponses` applies to payments too.
 */
export function paymentsServiceOptions(
  config: Config,
  { embedded, dataUrl }: { embedded: EmbeddedPayments | undefined; dataUrl: string | undefined },
): ConfiguredOptions {
  const { payments, data } = config;
  // Embedded chains start empty with every run, so their payments are kept in a temporary folder.
  const demo = config.chains.length === 0 ? embedded : undefined;
  const folder = payments.hasDefaultDatabase ? demo?.folder : undefined;
  const shownAt = dataUrl ?? (data.isPublicUrlNamed ? data.publicUrl : undefined);
  const explorer = shownAt === undefined ? undefined : explorerAt(shownAt, { hasPages: data.pages });
  return {
    host: payments.listen.host,
    port: payments.listen.port,
    publicUrl: payments.publicUrl,
    database: folder === undefined ? payments.database : { file: join(folder, 'payments.db') },
    secretKey: secretKeyOf(payments.secretKey, folder),
    chains: [
      ...config.chains
        .filter(({ rpc }) => rpc.length > 0)
        .map(chain => ({ ...watchedChain(chain, explorer), requiresProof: payments.requireProof })),
      ...(embedded?.chains ?? []).map(chain => embeddedChain(chain, explorer)),
    ],
    demo: demo && demoDefaults(demo),
    rateLimitPerMinute: payments.rateLimitPerMinute,
    sessionLifetimeMs: payments.sessions.expiresInMs,
    unpaidSessionsMs: payments.retention.unpaidSessionsMs,
    validateResponses: data.validateResponses,
    loggedRequests: config.log.requests,
    trustedProxies: config.trustedProxies,
    outgoing: folder === undefined ? payments : { ...payments, mailFolder: join(folder, 'mail') },
  };
}

function secretKeyOf(source: SecretKeySource, folder: string | undefined): SecretKeySource {
  if (source.kind === 'value' || folder === undefined) return source;
  return { kind: 'file', file: join(folder, 'payments.key') };
}

function watchedChain(chain: ChainConfig, explorer: Explorer | undefined): WatchedChain {
  const { id, name, native, tokens, confirmations, traceCoins, prove, testnet, rpc, rpcMaxAnswerBytes } =
    chain;
  const accepted = [{ address: NATIVE_COIN, ...native }, ...tokens.map(normalised)];
  return {
    id,
    name,
    mode: testnet ? 'test' : 'live',
    tokens: accepted,
    depositAddresses: chain.depositAddresses && depositRules(chain.depositAddresses, accepted),
    confirmations,
    traceCoins,
    prove,
    explorerUrl: explorerOf(chain) ?? explorer?.(id),
    rpcUrls: rpc,
    maxAnswerBytes: rpcMaxAnswerBytes,
    isOfThisRun: false,
  };
}

function embeddedChain(
  { id, name, rpcUrl, tokens }: EmbeddedPayments['chains'][number],
  explorer: Explorer | undefined,
): WatchedChain {
  return {
    id,
    name,
    mode: 'test',
    tokens: [EMBEDDED_COIN, ...tokens.map(normalised)],
    confirmations: EMBEDDED_CONFIRMATIONS,
    depositAddresses: {},
    explorerUrl: explorer?.(id),
    rpcUrls: [rpcUrl],
    isOfThisRun: true,
  };
}

function depositRules(
  { maxUnswept }: NonNullable<ChainConfig['depositAddresses']>,
  tokens: readonly PaymentToken[],
): DepositRules {
  if (maxUnswept === undefined) return {};
  const limits = tokens.flatMap(({ address, symbol, decimals }) => {
    const limit = maxUnswept[symbol];
    return limit === undefined ? [] : [[address, parseUnits(limit, decimals)] as const];
  });
  return { maxUnswept: new Map(limits) };
}

function normalised({ address, symbol, decimals }: PaymentToken): PaymentToken {
  return { address: normalToken(address), symbol, decimals };
}

/** Transaction pages of the chain's Blockscout back end. People read them more easily than JSON. */
function explorerOf({ backends }: ChainConfig): WatchedChain['explorerUrl'] {
  const blockscout = backends.find(({ kind }) => kind === 'blockscout');
  if (blockscout?.kind !== 'blockscout') return undefined;
  const page = blockscout.url.replace(/\/api\/v2$/, '');
  return hash => `${page}/tx/${hash}`;
}

/** Addresses of transaction pages by chain. */
type Explorer = (chainId: number) => NonNullable<WatchedChain['explorerUrl']>;

/** Explorer pages of the data service, or its API when the pages are off. */
function explorerAt(dataUrl: string, { hasPages }: { hasPages: boolean }): Explorer {
  return chainId =>
    hasPages
      ? hash => `${dataUrl}/chain/${chainId}/tx/${hash}`
      : hash => `${dataUrl}/explorer/transactions/${hash}?chain_id=${chainId}`;
}

function demoDefaults({ chains: [chain], merchant }: EmbeddedPayments) {
  return {
    chainId: chain?.id ?? null,
    tokenAddress: chain?.tokens[0]?.address.toLowerCase() ?? null,
    recipientAddress: merchant.toLowerCase(),
  };
}
