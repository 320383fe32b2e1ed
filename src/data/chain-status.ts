import { setTimeout } from 'node:timers/promises';
import type { DataServiceOperations } from '../contract/contracts/data-service.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import type { Check } from '../http/health.ts';
import type { Backend } from './backends/port/backend.ts';
import type { InsightsAnswers, InsightsOperationId } from './backends/port/insights-backend.ts';
import type { Chain } from './fallback/chain.ts';

/** Longest wait for the heads of back ends that have to be asked; later ones are in the next answer. */
const REFRESH_MS = 1_000;

/** Handler of `GET /chains`: the configured chains in fallback order, and what each of their back ends can do. */
export function chainsHandler(chains: readonly Chain[]): Handlers<DataServiceOperations>['listChains'] {
  return async () => {
    const refreshing = chains.flatMap(({ backends }) => backends.map(backend => backend.refreshStatus?.()));
    const pause = new AbortController();
    await Promise.race([
      Promise.all(refreshing),
      setTimeout(REFRESH_MS, undefined, { signal: pause.signal }).catch(() => undefined),
    ]);
    pause.abort();
    return { status: 200, headers: { 'Cache-Control': 'no-store' }, body: { chains: chains.map(describe) } };
  };
}

function describe({ id, name, native, confirmations, backends }: Chain) {
  return {
    id,
    name,
    native: { symbol: native.symbol, decimals: native.decimals },
    confirmations,
    backends: backends.map(backend => {
      const { ready, head, lag } = backend.status();
      return {
        name: backend.name,
        kind: backend.kind,
        ready,
        head: head ?? null,
        lag: lag ?? null,
        capabilities: [...Object.keys(backend.answers), ...insightsOperations(backend)],
      };
    }),
  };
}

/** A chain and its back ends as the operator sees them. Their addresses may carry keys, so none is in it. */
export function chainStatusBody({ id, name, backends }: Chain) {
  return {
    id,
    name,
    backends: backends.map(backend => {
      const { ready, head, lag } = backend.status();
      return {
        name: backend.name,
        kind: backend.kind,
        ready,
        head_block: head ?? null,
        lag_blocks: lag ?? null,
      };
    }),
  };
}

/** The operations of document 2 that each answer of a back end is for. */
const OPERATIONS: Readonly<Record<keyof InsightsAnswers, readonly InsightsOperationId[]>> = {
  records: [
    'queryBlocks',
    'queryTransactions',
    'queryContractTransactions',
    'queryWalletTransactions',
    'queryAllEvents',
    'queryContractEvents',
    'queryEvents',
  ],
  groups: [],
  listTokenBalances: ['listTokenBalances'],
  resolveInput: ['resolveInput'],
  lookUpTokens: ['lookUpTokens'],
  getTokenPrices: ['getTokenPrices'],
  listNftTransfers: ['listNftTransfers', 'listTokenNftTransfers'],
  listOwnedNfts: ['listOwnedNfts'],
  listContractNfts: ['listContractNfts'],
  getNft: ['getNft'],
  getContractAbi: ['getContractAbi'],
};

function insightsOperations({ insights = {} }: Backend): InsightsOperationId[] {
  return Object.entries(OPERATIONS).flatMap(([answer, operations]) =>
    answer in insights ? [...operations] : [],
  );
}

/** Blocks behind its node from which on a ready index is not ready any more, until it has caught up again. */
const FAR_LAG = 1_000;

/**
 * Readiness by chain. A chain that has an index only is ready once filling has ended and the index has caught up; after
 * that a lag of `FAR_LAG` blocks takes it back, a shorter one or a node that is silent does not. Remote back ends are
 * out for every process at once, so they do not count. Decision 145.
 */
export function readiness(
  chains: readonly Chain[],
  { isFilled }: { isFilled: () => boolean },
): Record<string, Check> {
  return Object.fromEntries(chains.map(chain => [`chain ${chain.id}`, chainCheck(chain, isFilled)]));
}

function chainCheck({ backends }: Chain, isFilled: () => boolean): Check {
  const hasRemote = backends.some(({ kind }) => kind !== 'index');
  const checks = hasRemote ? [] : backends.map(indexCheck);
  return async () => {
    if (checks.length === 0) return { ok: true };
    if (!isFilled()) return { ok: false, detail: 'being filled' };
    const outcomes = await Promise.all(checks.map(async check => check()));
    return outcomes.find(({ ok }) => ok) ?? outcomes[0] ?? { ok: true };
  };
}

/** Readiness of one index: once it has caught up, and until it is far behind. */
export function indexCheck(index: Pick<Backend, 'status' | 'probe'>): Check {
  let wasReady = false;
  return async () => {
    const { ready, head, lag } = index.status();
    wasReady = wasReady ? lag === undefined || lag < FAR_LAG : ready;
    await index.probe?.();
    const detail =
      head === undefined
        ? 'nothing is indexed yet'
        : `at block ${head}, ${lag ?? 'an unknown number of'} behind`;
    return { ok: wasReady, detail };
  };
}
