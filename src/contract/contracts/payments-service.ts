import { table } from '#generated/payments-service/operations.ts';
import type { operations } from '#generated/payments-service/types.ts';
import parameters from '#generated/payments-service/validators.cjs';
import { contractOf } from './contract.ts';

export type PaymentsServiceOperations = operations;

/** What the payments platform says of itself (Decision 202). */
export const paymentsServiceContract = contractOf<PaymentsServiceOperations>('payments-service', {
  table,
  parameters,
});
