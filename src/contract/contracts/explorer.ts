import { readFileSync } from 'node:fs';
import { table } from '#generated/explorer/operations.ts';
import type { components, operations } from '#generated/explorer/types.ts';
import parameters from '#generated/explorer/validators.cjs';
import type { Contract } from './contract.ts';

export type ExplorerOperations = operations;
export type ExplorerSchemas = components['schemas'];

/** Document 1. */
export const explorerContract: Contract<ExplorerOperations> = {
  name: 'explorer',
  document: JSON.parse(
    readFileSync(new URL('../../../generated/explorer/openapi.json', import.meta.url), 'utf8'),
  ),
  table,
  parameters,
};
