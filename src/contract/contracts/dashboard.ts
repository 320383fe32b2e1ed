import bodies from '#generated/dashboard/bodies.cjs';
import { table } from '#generated/dashboard/operations.ts';
import type { components, operations } from '#generated/dashboard/types.ts';
import parameters from '#generated/dashboard/validators.cjs';
import { contractOf } from './contract.ts';
import type { GatedHandlers, PublicOperation } from './operations.ts';

export type DashboardOperations = operations;
export type DashboardSchemas = components['schemas'];
/** The operations that need no session. */
export type DashboardPublicOperation = PublicOperation<typeof table>;
/** The handlers of the dashboard's session: `Known` has one, `Visitor` signs in. */
export type DashboardHandlers<Known, Visitor> = GatedHandlers<
  DashboardOperations,
  DashboardPublicOperation,
  Known,
  Visitor
>;

/** The session of the dashboard (Decision 244). */
export const dashboardContract = contractOf<DashboardOperations>('dashboard', { table, parameters, bodies });
