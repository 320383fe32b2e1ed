import type { PaymentMove, PaymentTransaction } from '../model/payment-transaction.ts';
import { recordForm } from '../tables/record-form.ts';

/** Fields of a transaction that change after it was recorded. */
const CHANGEABLE = {
  status: 'plain',
  amount: 'uint256',
  sender: 'plain',
  recipient: 'plain',
  txHash: 'plain',
  logIndex: 'plain',
  blockNumber: 'plain',
  blockHash: 'plain',
  blockTime: 'plain',
  confirmations: 'plain',
  matchedBy: 'plain',
  failureReason: 'plain',
  isLate: 'boolean',
  isDuplicate: 'boolean',
  isPartial: 'boolean',
  overpaidAmount: 'uint256',
  nonce: 'plain',
  confirmedAt: 'plain',
  completedAt: 'plain',
  assignedAt: 'plain',
  assignedBy: 'plain',
  assignedReason: 'plain',
  movedFrom: 'plain',
  proven: 'boolean',
  balanceBlock: 'plain',
} as const;
/** The columns that an update of a transaction writes. */
export const changeableForm = recordForm<Pick<PaymentTransaction, keyof typeof CHANGEABLE>>(CHANGEABLE);

/** All columns of a transaction. */
export const transactionForm = recordForm<PaymentTransaction>({
  id: 'plain',
  organizationId: 'plain',
  mode: 'plain',
  paymentLinkId: 'plain',
  sessionId: 'plain',
  chainId: 'plain',
  tokenAddress: 'plain',
  requiredConfirmations: 'plain',
  createdAt: 'plain',
  ...CHANGEABLE,
});

/** All columns of a move. */
export const moveForm = recordForm<PaymentMove>({
  transactionId: 'plain',
  sessionId: 'plain',
  since: 'plain',
  movedAt: 'plain',
  movedBy: 'plain',
  movedReason: 'plain',
});
