import { join } from 'node:path';
import type { ChainConfig, Config } from '../config/config.ts';
import { NATIVE_COIN, normalToken, type PaymentToken } from './model/payment-chain.ts';
import type { SecretKeySource } from './secrets/secret-key.ts';
import type { PaymentsServiceOptions, WatchedChain } from './service.ts';

/** The part of the payments service's options that a configuration decides. */
export type ConfiguredOptions = Omit<PaymentsServiceOptions, 'metrics' | 'clock' | 'log' | 'connections'>;

/** What the chains of this process itself offer to payments. */
export interface EmbeddedPayments {
  readonly chains: readonly {
    readonly id: number;
    readonly name: string;
    readonly rpcUrl: string;
    readonly tokens: readonly PaymentToken[];
  }[];
  /** Removed when the run ends. */
  readonly folder: string;
  /** Address of an account that nothing else pays to. */
  readonly merchant: string;
}

/** Blocks on top of a payment on an embedded chain: enough to see it being confirmed, few enough to wait for. */
const EMBEDDED_CONFIRMATIONS = 1;
const EMBEDDED_COIN: PaymentToken = { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 };

/**
 * Reads the payments service's options from a checked configuration. A chain without `rpc` cannot be watched, so nothing
 * is paid there. `dataUrl` is the address of the data service of this process, if it has one; that of other processes is
 * known when the file names it. Answers are checked where those of the data service are.
 */
export function paymentsServiceOptions(
  config: Config,
  { embedded, dataUrl }: { embedded: EmbeddedPayments | undefined; dataUrl: string | undefined },
): ConfiguredOptions {
  const { payments, data } = config;
  // Chains that begin anew with every run leave nothing that the next one could use.
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
      ...config.chains.filter(({ rpc }) => rpc.length > 0).map(chain => watchedChain(chain, explorer)),
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
  const { id, name, native, tokens, confirmations, testnet, rpc } = chain;
  return {
    id,
    name,
    mode: testnet ? 'test' : 'live',
    tokens: [{ address: NATIVE_COIN, ...native }, ...tokens.map(normalised)],
    confirmations,
    explorerUrl: explorerOf(chain) ?? explorer?.(id),
    rpcUrls: rpc,
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
    explorerUrl: explorer?.(id),
    rpcUrls: [rpcUrl],
    isOfThisRun: true,
  };
}

function normalised({ address, symbol, decimals }: PaymentToken): PaymentToken {
  return { address: normalToken(address), symbol, decimals };
}

/** The page of a Blockscout behind the data service: people read it more easily than JSON. */
function explorerOf({ backends }: ChainConfig): WatchedChain['explorerUrl'] {
  const blockscout = backends.find(({ kind }) => kind === 'blockscout');
  if (blockscout?.kind !== 'blockscout') return undefined;
  const page = blockscout.url.replace(/\/api\/v2$/, '');
  return hash => `${page}/tx/${hash}`;
}

/** Where transactions of a chain can be looked at. */
type Explorer = (chainId: number) => NonNullable<WatchedChain['explorerUrl']>;

/** The explorer of the data service: its pages, or its API where they are off. */
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
