import { table } from '#generated/data-service/operations.ts';
import type { operations } from '#generated/data-service/types.ts';
import parameters from '#generated/data-service/validators.cjs';
import { contractOf } from './contract.ts';

export type DataServiceOperations = operations;

/** Contract of the data service's own status and description, apart from its documents (Decision 202). */
export const dataServiceContract = contractOf<DataServiceOperations>('data-service', { table, parameters });
