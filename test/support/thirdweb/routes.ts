import {
  balanceWire,
  blockWire,
  eventWire,
  nftWire,
  resolvedWire,
  transactionWire,
  type Wire,
} from './wire.ts';

/** One path of the service, as a pattern, and what of ours answers it. */
export interface ThirdwebRoute {
  readonly pattern: RegExp;
  /** Of a query: how its records are written. */
  readonly wire?: Wire;
  readonly isTransfers?: true;
  /** What is asked of ours besides, for it knows more. */
  readonly narrowed?: string;
  /** `data` is one record. */
  readonly isOne?: true;
}

/** The operations that we know of. */
export const ROUTES: readonly ThirdwebRoute[] = [
  { pattern: /^\/blocks$/, wire: blockWire },
  { pattern: /^\/transactions$/, wire: transactionWire },
  { pattern: /^\/transactions\/([^/]+)$/, wire: transactionWire },
  { pattern: /^\/wallets\/([^/]+)\/transactions$/, wire: transactionWire },
  { pattern: /^\/events$/, wire: eventWire },
  { pattern: /^\/events\/([^/]+)$/, wire: eventWire },
  { pattern: /^\/events\/([^/]+)\/([^/]+)$/, wire: eventWire },
  { pattern: /^\/tokens$/, wire: balanceWire, narrowed: 'token_type=native,erc20' },
  { pattern: /^\/resolve\/([^/]+)$/, wire: resolvedWire, isOne: true },
  { pattern: /^\/tokens\/lookup$/ },
  { pattern: /^\/tokens\/price$/ },
  { pattern: /^\/nfts$/, wire: nftWire, isTransfers: true },
  { pattern: /^\/nfts\/transfers\/([^/]+)(?:\/([^/]+))?$/, isTransfers: true },
  { pattern: /^\/nfts\/([^/]+)(?:\/([^/]+))?$/, isTransfers: true },
  { pattern: /^\/contracts\/abi\/([^/]+)$/ },
];
