import { newId } from '../../src/lib/ids.ts';
import type { Owner } from '../../src/payments/model/owner.ts';
import type { Transfer } from '../../src/payments/model/transfer.ts';
import type { SessionDraft } from '../../src/payments/sessions/opening.ts';
import { aLink, RECORD_TIME } from './payments-records.ts';

const HOUR_MS = 3_600_000;
let transfersMade = 0;

/**
 * A session with the amount, chain, token and recipient of `aLink` but without a link, an hour long, without customer
 * data.
 */
export function aSession({ organizationId, mode }: Owner, changes: Partial<SessionDraft> = {}): SessionDraft {
  const { chainId, tokenAddress, recipientAddress } = aLink({ organizationId, mode });
  return {
    id: newId('cs'),
    organizationId,
    mode,
    paymentLinkId: null,
    status: 'active',
    paymentStatus: 'awaiting_payment',
    chainId,
    tokenAddress,
    recipientAddress,
    tokenDecimals: 6,
    subtotal: 2_500_000n,
    amount: 2_500_000n,
    toleranceBps: 0,
    amountReceived: 0n,
    amountRefunded: 0n,
    amountReserved: 0n,
    amountOverpaid: 0n,
    presentation: {
      name: 'A cup of coffee',
      description: null,
      imageUrl: null,
      themeColor: null,
      buttonText: 'Pay',
      returnLabel: null,
      merchant: { name: 'Acme', logo_url: null },
      items: [],
    },
    signedAddress: null,
    payerAddress: null,
    txHash: null,
    confirmations: 0,
    requiredConfirmations: 3,
    transactionId: null,
    failureReason: null,
    isLate: false,
    isReorged: false,
    useReservedUntil: null,
    acceptedAt: null,
    acceptedBy: null,
    acceptedReason: null,
    acceptedAmount: null,
    successUrl: null,
    cancelUrl: null,
    clientReferenceId: null,
    customerId: null,
    metadata: {},
    customerEmail: null,
    customerName: null,
    formData: null,
    shippingAddress: null,
    shippingOption: null,
    expiresAt: RECORD_TIME + HOUR_MS,
    createdAt: RECORD_TIME,
    updatedAt: RECORD_TIME,
    completedAt: null,
    endedReason: null,
    endedAt: null,
    ...changes,
  };
}

/** A transfer of the amount of `aSession` to its recipient, a minute after its creation, each with a new hash. */
export function aTransfer(changes: Partial<Transfer> = {}): Transfer {
  transfersMade += 1;
  const { chainId, tokenAddress, recipientAddress } = aSession({ organizationId: '', mode: 'test' });
  return {
    chainId,
    txHash: hash(transfersMade),
    logIndex: 3,
    blockNumber: 100,
    blockHash: hash(100),
    blockTime: RECORD_TIME + 60_000,
    tokenAddress,
    sender: `0x${'aa'.repeat(20)}`,
    recipient: recipientAddress,
    amount: 2_500_000n,
    ...changes,
  };
}

/** A hash of 32 bytes made from a number. */
export function hash(number: number): string {
  return `0x${number.toString(16).padStart(64, '0')}`;
}
