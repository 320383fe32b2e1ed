import { table } from '#generated/data-service/operations.ts';
import type { operations } from '#generated/data-service/types.ts';
import parameters from '#generated/data-service/validators.cjs';
import { contractOf } from './contract.ts';

export type DataServiceOperations = operations;

/**
 * Contract of `GET /chains` and the data service's descriptions, separate from the documents' contracts (Decision 202).
 */
export const dataServiceContract = contractOf<DataServiceOperations>('data-service', { table, parameters });
