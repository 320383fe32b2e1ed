import sessionBodies from '#generated/dashboard/bodies.cjs';
import { table as sessionTable } from '#generated/dashboard/operations.ts';
import type * as dashboard from '#generated/dashboard/types.ts';
import sessionParameters from '#generated/dashboard/validators.cjs';
import bodies from '#generated/payments/bodies.cjs';
import { table } from '#generated/payments/operations.ts';
import type { components, operations, webhooks } from '#generated/payments/types.ts';
import parameters from '#generated/payments/validators.cjs';
import { table as serviceTable } from '#generated/payments-service/operations.ts';
import type { operations as ServiceOperations } from '#generated/payments-service/types.ts';
import serviceParameters from '#generated/payments-service/validators.cjs';
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

export type PaymentsServiceOperations = ServiceOperations;

/** Contract of the payments platform's descriptions, separate from the document's contract (Decision 202). */
export const paymentsServiceContract = contractOf<PaymentsServiceOperations>('payments-service', {
  table: serviceTable,
  parameters: serviceParameters,
});

export type DashboardOperations = dashboard.operations;
export type DashboardSchemas = dashboard.components['schemas'];
/** Operations that need no session. */
export type DashboardPublicOperation = PublicOperation<typeof sessionTable>;
/** Handlers of the dashboard's session. `Known` is a caller with a session, `Visitor` one who signs in. */
export type DashboardHandlers<Known, Visitor> = GatedHandlers<
  DashboardOperations,
  DashboardPublicOperation,
  Known,
  Visitor
>;

/** Contract of the dashboard's sessions. A key is exchanged for a session of 12 hours (Decision 244). */
export const dashboardContract = contractOf<DashboardOperations>('dashboard', {
  table: sessionTable,
  parameters: sessionParameters,
  bodies: sessionBodies,
});
