import { newId } from '../../src/lib/ids.ts';
import type { Owner } from '../../src/payments/model/owner.ts';
import { REFUND_LIFETIME_MS, type Refund } from '../../src/payments/model/refund.ts';
import { RECORD_TIME } from './payments-records.ts';

/** A refund of an unmatched transfer that requires action, created at `RECORD_TIME`. */
export function aRefund({ organizationId, mode }: Owner, changes: Partial<Refund> = {}): Refund {
  const createdAt = changes.createdAt ?? RECORD_TIME;
  return {
    id: newId('re'),
    organizationId,
    mode,
    status: 'requires_action',
    sessionId: null,
    transactionId: null,
    unmatchedTransferId: newId('utr'),
    chainId: 31_337,
    tokenAddress: `0x${'70'.repeat(20)}`,
    amount: 2_500_000n,
    recipient: `0x${'5e'.repeat(20)}`,
    destination: `0x${'d0'.repeat(20)}`,
    destinationSource: 'merchant',
    txHash: null,
    logIndex: null,
    blockNumber: null,
    blockHash: null,
    confirmations: 0,
    requiredConfirmations: 2,
    failureReason: null,
    reason: null,
    createdBy: 'api_key:ak_5gTy8VbNm3QwE6rUiO1pAs4D',
    completedBy: null,
    cancelledBy: null,
    cancelledReason: null,
    afterBlock: null,
    searchedSince: null,
    expiresAt: createdAt + REFUND_LIFETIME_MS,
    createdAt,
    updatedAt: createdAt,
    completedAt: null,
    cancelledAt: null,
    ...changes,
  };
}
