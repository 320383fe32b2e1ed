import { table } from '#generated/payments-service/operations.ts';
import type { operations } from '#generated/payments-service/types.ts';
import parameters from '#generated/payments-service/validators.cjs';
import { contractOf } from './contract.ts';

export type PaymentsServiceOperations = operations;

/** Contract of the payments platform's descriptions, separate from the document's contract (Decision 202). */
export const paymentsServiceContract = contractOf<PaymentsServiceOperations>('payments-service', {
  table,
  parameters,
});
