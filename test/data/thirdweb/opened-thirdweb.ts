import type { Backend } from '#data/backends/port/backend.ts';
import { BackendError } from '#data/backends/port/backend-error.ts';
import type {
  GroupSelection,
  InsightsAnswers,
  InsightsAsk,
  RecordsQuery,
} from '#data/backends/port/insights-backend.ts';
import { thirdwebReply } from '#data/backends/thirdweb/reply-judge.ts';
import { thirdwebBackend } from '#data/backends/thirdweb/thirdweb-backend.ts';
import { createLogger } from '#lib/logger.ts';
import type { Entity } from '#query-model/row-selection.ts';
import { record } from '../../lab/json.ts';
import type { Behaviour, SeenRequest } from '../../lab/scripted-upstream.ts';
import { PATIENCE_MS } from '../../lab/until.ts';
import { opened } from '../upstream/opened.ts';
import type { ThirdwebFixture } from './fixtures.ts';

export interface OpenedThirdweb extends AsyncDisposable {
  readonly backend: Backend;
  readonly insights: Required<InsightsAnswers>;
  readonly requests: readonly SeenRequest[];
  /** Log lines of the back end itself. */
  lines(): Record<string, unknown>[];
}

/** A back end of chain 1 over a scripted Insight service. */
export async function openedThirdweb(
  respond: (request: SeenRequest) => Behaviour | Promise<Behaviour>,
): Promise<OpenedThirdweb> {
  const {
    service,
    upstream,
    [Symbol.asyncDispose]: dispose,
  } = await opened(respond, { judge: thirdwebReply });
  const written: string[] = [];
  const log = createLogger({ level: 'debug', destination: { write: line => written.push(line) } });
  const backend = thirdwebBackend({ name: 'insight-1', chainId: 1, upstream, sharedAs: service.url, log });
  const { insights = {} } = backend;
  if (!hasAll(insights)) throw new Error('an answer is missing');
  return {
    backend,
    insights,
    requests: service.requests,
    lines: () => written.map(line => record(JSON.parse(line))),
    [Symbol.asyncDispose]: dispose,
  };
}

const ANSWERS: Readonly<Record<keyof InsightsAnswers, true>> = {
  records: true,
  groups: true,
  resolveInput: true,
  listTokenBalances: true,
  lookUpTokens: true,
  getTokenPrices: true,
  listNftTransfers: true,
  listOwnedNfts: true,
  listContractNfts: true,
  getNft: true,
  getContractAbi: true,
};

function hasAll(insights: InsightsAnswers): insights is Required<InsightsAnswers> {
  return Object.keys(ANSWERS).every(answer => answer in insights);
}

/** The same reply to every request. */
export function always(fixture: ThirdwebFixture): () => Behaviour {
  return () => ({ text: fixture.text, type: 'application/json' });
}

export function about(...chainIds: number[]): InsightsAsk {
  return { chainIds, signal: AbortSignal.timeout(PATIENCE_MS) };
}

/** A query with the contract's defaults. */
export function queryFor<E extends Entity>(
  entity: E,
  more: Partial<RecordsQuery> = {},
): RecordsQuery & { readonly entity: E } {
  return {
    filters: [],
    sort: { field: 'block_number', order: 'desc' },
    limit: 20,
    page: 0,
    decode: false,
    ...more,
    entity,
  };
}

export function groupsFor(more: Partial<GroupSelection>): GroupSelection {
  return { entity: 'transactions', filters: [], keys: [], folds: [], ...more };
}

/** The failure of a call. */
export async function failureOf(pending: Promise<unknown>): Promise<BackendError> {
  const outcome = await pending.catch((error: unknown) => error);
  if (outcome instanceof BackendError) return outcome;
  throw new Error('a back end error was expected', { cause: outcome });
}

/** Received parameters, in order. */
export function sentTo({ query }: SeenRequest | undefined = unseen()): string[] {
  return [...query].map(([name, value]) => `${name}=${value}`);
}

function unseen(): never {
  throw new Error('nothing was asked');
}
