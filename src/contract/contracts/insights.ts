import { table } from '#generated/insights/operations.ts';
import type { components, operations } from '#generated/insights/types.ts';
import parameters from '#generated/insights/validators.cjs';
import { contractOf } from './contract.ts';

export type InsightsOperations = operations;
export type InsightsSchemas = components['schemas'];

/** Contract of document 2. */
export const insightsContract = contractOf<InsightsOperations>('insights', { table, parameters });
