import { setTimeout } from 'node:timers/promises';
import type { DataServiceOperations } from '../contract/contracts/data-service.ts';
import type { Handlers } from '../contract/contracts/operations.ts';
import type { IndexFigures } from '../http/index-metrics.ts';
import type { Backend, BackendStatus } from './backends/port/backend.ts';
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
      const { ready, head, lag, stalled = false, incompleteBlocks } = backend.status();
      return {
        name: backend.name,
        kind: backend.kind,
        ready,
        head: head ?? null,
        lag: lag ?? null,
        stalled,
        incomplete_blocks: incompleteBlocks ?? null,
        capabilities: [...Object.keys(backend.answers), ...insightsOperations(backend)],
      };
    }),
  };
}

/** State of an index for the metrics. All of it is also known while the node is silent. */
export function indexProgressOf(chainId: number, status: BackendStatus): IndexFigures {
  const { head, lastLag, lagSeconds, stalled, incompleteBlocks, unreadState, proofs } = status;
  return {
    chain: String(chainId),
    headBlock: head,
    lagBlocks: lastLag,
    lagSeconds,
    stalled,
    incompleteBlocks,
    unreadState,
    provenShare: proofs?.provenShare,
    contradictions: proofs?.contradictions,
  };
}

/** Digits of a share. It is cut off, so that 1 means all. */
const SHARE_DIGITS = 10_000;

/** Proofs of an index for the operator; of other back ends, nothing is known. */
export function proofBody({ proofs }: BackendStatus) {
  const { provenShare, unprovable, contradicting, headAgreedBy } = proofs ?? {};
  return {
    proven_share: provenShare === undefined ? null : Math.floor(provenShare * SHARE_DIGITS) / SHARE_DIGITS,
    unprovable: unprovable ?? null,
    contradicting_nodes: (contradicting ?? []).map(({ until, ...one }) => ({
      ...one,
      left_out_until: new Date(until).toISOString(),
    })),
    head_agreed_by: headAgreedBy ?? null,
  };
}

/** State of a chain and its back ends for the operator. Addresses are left out, because they may carry keys. */
export function dataChainStatusBody({ id, name, backends }: Chain) {
  return {
    id,
    name,
    backends: backends.map(backend => {
      const status = backend.status();
      return {
        name: backend.name,
        kind: backend.kind,
        ready: status.ready,
        head_block: status.head ?? null,
        lag_blocks: status.lag ?? null,
        lag_seconds: status.lagSeconds ?? null,
        stalled: status.stalled ?? false,
        incomplete_blocks: status.incompleteBlocks ?? null,
        unread_state: status.unreadState ?? null,
        ...proofBody(status),
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
