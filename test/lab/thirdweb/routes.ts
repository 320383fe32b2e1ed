import {
  balanceWire,
  blockWire,
  eventWire,
  nftWire,
  resolvedWire,
  transactionWire,
  type Wire,
} from './wire.ts';

/** One path of the service, as a pattern, with its counterpart in our service. */
export interface ThirdwebRoute {
  readonly pattern: RegExp;
  /** Converts the records of a query. */
  readonly wire?: Wire;
  readonly isTransfers?: true;
  /** A further restriction of our service, which knows more records. */
  readonly narrowed?: string;
  /** `data` is one record. */
  readonly isOne?: true;
}

/** The known operations. */
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
