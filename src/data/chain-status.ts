import { setTimeout } from 'node:timers/promises';
import type { DataServiceOperations } from '../contract/contracts/data-service.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import type { Check } from '../http/health.ts';
import type { Backend } from './backends/port/backend.ts';
import type { InsightsAnswers, InsightsOperationId } from './backends/port/insights-backend.ts';
import type { Chain } from './fallback/chain.ts';

/** Longest wait for the heads of remote back ends. A head that arrives later appears in the next answer. */
const REFRESH_MS = 1_000;

/** Handler of `GET /chains`: the configured chains in fallback order, with the capabilities of their back ends. */
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

/** State of a chain and its back ends for the operator. Addresses are left out, because they may carry keys. */
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

/** Operations of document 2 served by each answer of a back end. */
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

/** Lag, in blocks behind the node, at which a ready index stops being ready until it has caught up again. */
const FAR_LAG = 1_000;

/**
 * Readiness by chain. A chain with nothing but indexes is ready once filling has ended and an index has caught up.
 * Afterwards only a lag of `FAR_LAG` blocks makes it unready; a shorter lag or a silent node does not. Remote back ends
 * fail for every process at once, so they do not count (Decision 145).
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

/** Readiness of one index: ready once it has caught up, unready when it is far behind. */
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
