import bodies from '#generated/payments/bodies.cjs';
import { table } from '#generated/payments/operations.ts';
import type { components, operations, webhooks } from '#generated/payments/types.ts';
import parameters from '#generated/payments/validators.cjs';
import { contractOf } from './contract.ts';
import type { GatedHandlers, PublicOperation } from './operations.ts';

export type PaymentsOperations = operations;
export type PaymentsSchemas = components['schemas'];
/** Bodies of outgoing events, by event type. */
export type PaymentsDeliveries = {
  [Type in keyof webhooks]: webhooks[Type]['post']['requestBody']['content']['application/json'];
};
/** Operations of the payer, which need no key. */
export type PaymentsPublicOperation = PublicOperation<typeof table>;
/** Handlers of the platform. `Known` is the caller with a key, `Visitor` the payer. */
export type PaymentsHandlers<Known, Visitor> = GatedHandlers<
  PaymentsOperations,
  PaymentsPublicOperation,
  Known,
  Visitor
>;

/** Contract of document 3. */
export const paymentsContract = contractOf<PaymentsOperations>('payments', { table, parameters, bodies });
