import { registerChainGauges } from '../../http/chain-gauges.ts';
import type { Metrics } from '../../http/metrics.ts';
import type { DepositOffers } from './deposit-offers.ts';

/** Deposit addresses of a chain; null for a chain that is not to have them, and in a process that does not check. */
export function depositStatus(offers: DepositOffers | undefined, chainId: number) {
  if (offers?.chains.some(({ id }) => id === chainId) !== true) return null;
  const reason = offers.refusal(chainId) ?? null;
  return { is_offered: reason === null, reason };
}

/** Warnings about chains whose operator accepted deposit addresses, and which do not offer any. */
export function depositWarnings(offers: DepositOffers | undefined): string[] {
  return offers?.chains.flatMap(({ id, mode }) => (mode === 'live' ? (offers.refusal(id) ?? []) : [])) ?? [];
}

/** Registers the gauge of the chains that are to have deposit addresses. */
export function registerDepositMetrics({ registry }: Metrics, { chains, refusal }: DepositOffers): void {
  registerChainGauges(registry, {
    read: async () => chains.map(({ id }) => ({ chain: String(id), isOffered: refusal(id) === undefined })),
    gauges: [
      {
        name: 'tollgate_payments_deposit_addresses_offered',
        help: '1 while a chain offers deposit addresses, 0 while it is to have them and its check fails',
        amountOf: ({ isOffered }) => Number(isOffered),
      },
    ],
  });
}
