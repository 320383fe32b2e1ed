import type { InsightsSchemas } from '../contract/contracts/insights.ts';

/** Records that can be queried: blocks, transactions and logs of the canonical chain. */
export interface EntityRecords {
  readonly blocks: InsightsSchemas['Block'];
  readonly transactions: InsightsSchemas['Transaction'];
  readonly events: InsightsSchemas['ContractEvent'];
}
export type Entity = keyof EntityRecords;

/**
 * A condition on a field; all conditions of a query must hold. Hex is lower-case and has the field's full length where
 * that is fixed, with topics padded to 32 bytes. Until a back end resolves it, an address may be a name.
 */
export interface Filter {
  /** Name of the record's field. */
  readonly field: string;
  readonly operator: 'eq' | 'gte' | 'gt' | 'lte' | 'lt';
  readonly value: bigint | string;
}

/** Fields of which a filter may be a name. */
export const NAMED_FIELDS: ReadonlySet<string> = new Set(['from_address', 'to_address', 'address']);

/** Selected rows of an entity. */
export interface RowSelection {
  readonly entity: Entity;
  readonly filters: readonly Filter[];
  /** Transactions that this address sent or received, each once. */
  readonly wallet?: string;
}

/** A page of groups: its rows as a JSON array in UTF-8, and the total number of groups. */
export interface WrittenGroups {
  readonly json: Uint8Array<ArrayBuffer>;
  readonly total: number;
}
