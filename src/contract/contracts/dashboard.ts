import bodies from '#generated/dashboard/bodies.cjs';
import { table } from '#generated/dashboard/operations.ts';
import type { components, operations } from '#generated/dashboard/types.ts';
import parameters from '#generated/dashboard/validators.cjs';
import { contractOf } from './contract.ts';
import type { GatedHandlers, PublicOperation } from './operations.ts';

export type DashboardOperations = operations;
export type DashboardSchemas = components['schemas'];
/** Operations that need no session. */
export type DashboardPublicOperation = PublicOperation<typeof table>;
/** Handlers of the dashboard's session. `Known` is a caller with a session, `Visitor` one who signs in. */
export type DashboardHandlers<Known, Visitor> = GatedHandlers<
  DashboardOperations,
  DashboardPublicOperation,
  Known,
  Visitor
>;

/** Contract of the dashboard's sessions. A key is exchanged for a session of 12 hours (Decision 244). */
export const dashboardContract = contractOf<DashboardOperations>('dashboard', { table, parameters, bodies });
