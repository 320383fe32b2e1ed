import { table } from '#generated/explorer/operations.ts';
import type { components, operations } from '#generated/explorer/types.ts';
import parameters from '#generated/explorer/validators.cjs';
import { contractOf } from './contract.ts';

export type ExplorerOperations = operations;
export type ExplorerSchemas = components['schemas'];

/** Contract of document 1. */
export const explorerContract = contractOf<ExplorerOperations>('explorer', { table, parameters });
