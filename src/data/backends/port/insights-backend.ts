import type { AbiEvent } from 'viem';
import type { InsightsOperations, InsightsSchemas } from '#contract/contracts/insights.ts';
import type { OperationBody, OperationRequest } from '#contract/contracts/operations.ts';
import { fromJson } from '#lib/json.ts';
import type { WaitingClients } from '#lib/request-counters.ts';
import type { GroupPage } from '#query-model/aggregation-plan.ts';
import type { Fold, Group, RowExpression } from '#query-model/expression.ts';
import type { Entity, EntityRecords, RowSelection, WrittenGroups } from '#query-model/row-selection.ts';

export type InsightsOperationId = keyof InsightsOperations & string;
export type InsightsRequestOf<Id extends InsightsOperationId> = OperationRequest<InsightsOperations[Id]>;
export type InsightsBodyOf<Id extends InsightsOperationId> = OperationBody<InsightsOperations[Id]>;

/** Selection of an entity's records. Addresses are lower-case hex or names. */
export interface RecordSelection extends RowSelection {
  /** Logs of this contract, or transactions to it. */
  readonly contract?: string;
  /** Logs with this first topic. */
  readonly event?: {
    readonly topic0: string;
    /**
     * Signature with parameter names and `indexed`, enough to decode logs. Present when the request marks the indexed
     * parameters.
     */
    readonly signature?: string;
    /** Signature without parameter names and spaces. Absent when the request gives only the topic. */
    readonly canonical?: string;
    /** Parsed form of `signature`. */
    readonly abi?: AbiEvent;
  };
}

export interface RecordsQuery extends RecordSelection {
  readonly sort: { readonly field: string; readonly order: 'asc' | 'desc' };
  /** Rows per chain. */
  readonly limit: number;
  readonly page: number;
  readonly decode: boolean;
}

export interface GroupSelection extends RecordSelection {
  readonly keys: readonly RowExpression[];
  readonly folds: readonly Fold[];
  /** Page of the final rows, set only when the groups are of one chain. A back end may answer with that page alone. */
  readonly page?: GroupPage;
}

/**
 * Possible meaning of a text, judged by its form alone. Hex is lower-case and of full length; an address may be a name.
 */
export type NamedInput =
  | { readonly kind: 'number'; readonly number: bigint }
  | { readonly kind: 'hash'; readonly hash: string }
  | { readonly kind: 'selector'; readonly selector: string }
  | { readonly kind: 'address'; readonly address: string }
  /** Signature of an event or a function. Topic and selector come from the same hash. */
  | { readonly kind: 'signature'; readonly topic0: string; readonly selector: string };

/** Records as values, or as a JSON array in UTF-8. The JSON form is already in the order of the query. */
export type RecordList<Record> = readonly Record[] | Uint8Array;

/** Returns the records as values, parsing the JSON form. */
export function recordValues<Record>(records: RecordList<Record>): readonly Record[] {
  return records instanceof Uint8Array ? fromJson(new TextDecoder().decode(records)) : records;
}

/** One back end's part of an answer, for the chains it was asked about. */
export interface Records<Record> {
  readonly records: RecordList<Record>;
  /** Matches over these chains, exact up to 10,000 per chain. */
  readonly total: number;
  readonly isCapped: boolean;
  /** Number of pages of the chain that has the most. */
  readonly pages: number;
}

/** Chains and abort signal of a request to a back end. */
export interface InsightsAsk {
  readonly chainIds: readonly number[];
  readonly signal: AbortSignal;
  /** Clients that wait for the answer: the same object for all chains and back ends of one answer. */
  readonly clients?: WaitingClients;
}

/**
 * Operations of document 2 that a back end supports; a missing one is unsupported, as in `Answers`. Each call is about
 * one chain, or about several that share the back end.
 * @throws BackendError `not_found` with the reason `unknown_name` when a name resolves to no address.
 */
export interface InsightsAnswers {
  records?<E extends Entity>(
    query: RecordsQuery & { readonly entity: E },
    ask: InsightsAsk,
  ): Promise<Records<EntityRecords[E]>>;
  /** @throws BackendError `rejected`, with advice, when the query would take too long or yields too many groups. */
  groups?(query: GroupSelection, ask: InsightsAsk): Promise<readonly Group[] | WrittenGroups>;
  /** Returns a page per owner, in any order. Prices are included when the order needs them. */
  listTokenBalances?(
    request: InsightsRequestOf<'listTokenBalances'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['TokenBalance'][]>;
  /** Answers `unknown` for an unknown name, as for any other text. */
  resolveInput?(input: NamedInput, ask: InsightsAsk): Promise<InsightsSchemas['ResolvedInput']>;
  lookUpTokens?(
    request: InsightsRequestOf<'lookUpTokens'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['FoundToken'][]>;
  getTokenPrices?(
    request: InsightsRequestOf<'getTokenPrices'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['TokenPrice'][]>;
  /** Transfers of a contract, or of one of its tokens when `token_id` is present. */
  listNftTransfers?(
    request: NftTransfersRequest,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['NftTransfer'][]>;
  /** Returns a page per owner. */
  listOwnedNfts?(
    request: InsightsRequestOf<'listOwnedNfts'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['Nft'][]>;
  listContractNfts?(
    request: InsightsRequestOf<'listContractNfts'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['Nft'][]>;
  /** @throws BackendError `not_found` when no chain of `ask` has it. */
  getNft?(request: InsightsRequestOf<'getNft'>, ask: InsightsAsk): Promise<readonly InsightsSchemas['Nft'][]>;
  getContractAbi?(
    request: InsightsRequestOf<'getContractAbi'>,
    ask: InsightsAsk,
  ): Promise<InsightsBodyOf<'getContractAbi'>>;
}

export interface NftTransfersRequest {
  readonly path: InsightsRequestOf<'listNftTransfers'>['path'] & { readonly token_id?: string };
  readonly query: InsightsRequestOf<'listNftTransfers'>['query'] &
    Partial<InsightsRequestOf<'listTokenNftTransfers'>['query']>;
}
