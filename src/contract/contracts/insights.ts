import { readFileSync } from 'node:fs';
import { table } from '#generated/insights/operations.ts';
import type { components, operations } from '#generated/insights/types.ts';
import parameters from '#generated/insights/validators.cjs';
import type { Contract } from './contract.ts';

export type InsightsOperations = operations;
export type InsightsSchemas = components['schemas'];

/** Document 2. */
export const insightsContract: Contract<InsightsOperations> = {
  name: 'insights',
  document: JSON.parse(
    readFileSync(new URL('../../../generated/insights/openapi.json', import.meta.url), 'utf8'),
  ),
  table,
  parameters,
};
