import type { AbiEvent } from 'viem';
import type { InsightsOperations, InsightsSchemas } from '#contract/contracts/insights.ts';
import type { OperationBody, OperationRequest } from '#contract/contracts/operations.ts';
import type { GroupPage } from '#lib/groups/aggregation-plan.ts';
import type { Fold, Group, RowExpression } from '#lib/groups/expression.ts';
import { fromJson } from '#lib/json.ts';

export type InsightsOperationId = keyof InsightsOperations & string;
export type InsightsRequestOf<Id extends InsightsOperationId> = OperationRequest<InsightsOperations[Id]>;
export type InsightsBodyOf<Id extends InsightsOperationId> = OperationBody<InsightsOperations[Id]>;

/** The records that can be queried. */
export interface EntityRecords {
  blocks: InsightsSchemas['Block'];
  transactions: InsightsSchemas['Transaction'];
  events: InsightsSchemas['ContractEvent'];
}
export type Entity = keyof EntityRecords;

/** All filters must hold. Hex is lower-case, of the field's full length where that is fixed; an address may be a name. */
export interface Filter {
  /** Name of the record's field. */
  readonly field: string;
  readonly operator: 'eq' | 'gte' | 'gt' | 'lte' | 'lt';
  readonly value: bigint | string;
}

/** Which records of an entity are meant; addresses are lower-case hex or names. */
export interface RecordSelection {
  readonly entity: Entity;
  readonly filters: readonly Filter[];
  /** Transactions that this address sent or received, each once. */
  readonly wallet?: string;
  /** Logs of this contract, or transactions to it. */
  readonly contract?: string;
  /** Logs with this first topic. */
  readonly event?: {
    readonly topic0: string;
    /** With names and `indexed`, when the request says what is indexed: enough to decode by. */
    readonly signature?: string;
    /** Without names and blanks, unless the request names the topic alone. */
    readonly canonical?: string;
    /** What `signature` says. */
    readonly abi?: AbiEvent;
  };
}

export interface RecordsQuery extends RecordSelection {
  readonly sort: { readonly field: string; readonly order: 'asc' | 'desc' };
  /** Rows a chain. */
  readonly limit: number;
  readonly page: number;
  readonly decode: boolean;
}

export interface GroupsQuery extends RecordSelection {
  readonly keys: readonly RowExpression[];
  readonly folds: readonly Fold[];
  /** A page of what becomes of the groups, where they are of one chain. A back end may answer with that alone. */
  readonly page?: GroupPage;
}

/** The rows of a page of groups, as JSON text of their list in UTF-8, and how many groups there are. */
export interface WrittenGroups {
  readonly json: Uint8Array;
  readonly total: number;
}

/** What a text may name, by its form alone. Hex is lower-case, of full length; an address may be a name. */
export type NamedInput =
  | { readonly kind: 'number'; readonly number: bigint }
  | { readonly kind: 'hash'; readonly hash: string }
  | { readonly kind: 'selector'; readonly selector: string }
  | { readonly kind: 'address'; readonly address: string }
  /** Of an event or a function, whose topic and selector are of the same hash. */
  | { readonly kind: 'signature'; readonly topic0: string; readonly selector: string };

/** Records as values, or as the JSON text of their list in UTF-8, which is in the order of the query. */
export type RecordList<Record> = readonly Record[] | Uint8Array;

/** Records as values, whichever way they came. */
export function recordValues<Record>(records: RecordList<Record>): readonly Record[] {
  return records instanceof Uint8Array ? fromJson(new TextDecoder().decode(records)) : records;
}

/** What one back end adds for the chains it was asked about. */
export interface Records<Record> {
  readonly records: RecordList<Record>;
  /** Matches over these chains, exact up to 10,000 a chain. */
  readonly total: number;
  readonly isCapped: boolean;
  /** Pages of the longest chain. */
  readonly pages: number;
}

/** Whom to ask about which chains, and until when. */
export interface InsightsAsk {
  readonly chainIds: readonly number[];
  readonly signal: AbortSignal;
  /** The same object for all chains and back ends of one answer. */
  readonly request?: object;
}

/**
 * What a back end knows of document 2. Capability is presence, as in `Answers`. Each is asked about one chain, or about
 * several that share the back end.
 * @throws BackendError `not_found` with the reason `unknown_name` when a name leads nowhere.
 */
export interface InsightsAnswers {
  records?<E extends Entity>(
    query: RecordsQuery & { readonly entity: E },
    ask: InsightsAsk,
  ): Promise<Records<EntityRecords[E]>>;
  /** @throws BackendError `rejected`, with advice, when it would take too long or has too many groups. */
  groups?(query: GroupsQuery, ask: InsightsAsk): Promise<readonly Group[] | WrittenGroups>;
  /** Of each owner a page, in any order; prices also where the order needs them. */
  listTokenBalances?(
    request: InsightsRequestOf<'listTokenBalances'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['TokenBalance'][]>;
  /** Of an unknown name as of any other text, `unknown` is an answer. */
  resolveInput?(input: NamedInput, ask: InsightsAsk): Promise<InsightsSchemas['ResolvedInput']>;
  lookUpTokens?(
    request: InsightsRequestOf<'lookUpTokens'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['FoundToken'][]>;
  getTokenPrices?(
    request: InsightsRequestOf<'getTokenPrices'>,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['TokenPrice'][]>;
  /** Of a contract, or of one of its tokens when `token_id` is there. */
  listNftTransfers?(
    request: NftTransfersRequest,
    ask: InsightsAsk,
  ): Promise<readonly InsightsSchemas['NftTransfer'][]>;
  /** Of each owner a page. */
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
