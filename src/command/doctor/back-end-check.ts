import type { BackendConfig, ChainConfig } from '#config/config.ts';
import { incidentOf } from '#data/backends/upstream/exchange-error.ts';
import { openBlockscout, openThirdweb } from '#data/open-remote.ts';
import { createMetrics } from '#http/metrics.ts';
import type { Clock } from '#lib/clock.ts';
import { silentLogger } from '#lib/logger.ts';
import { type ConfigCheck, Fault, headAge } from './check.ts';

type RemoteConfig = Exclude<BackendConfig, { kind: 'index' }>;

const TIMEOUT_MS = 4_000;
const NEWEST_BLOCK = {
  entity: 'blocks',
  filters: [],
  sort: { field: 'block_number', order: 'desc' },
  limit: 1,
  page: 0,
  decode: false,
} as const;

/** Checks a remote back end of a chain: its answer about the newest block, and the age of that block. */
export function backEndCheck(
  chain: ChainConfig,
  { backend, setting, clock }: { backend: RemoteConfig; setting: string; clock: Clock },
): ConfigCheck {
  return {
    setting,
    subject: `${backend.kind} ${new URL(backend.url).host} of ${chain.name}`,
    advice: 'Correct the address or the key of the back end, or leave it out.',
    async run(signal) {
      const remote = opened(chain, backend, clock);
      const ending = endingOf(backend, chain.id);
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
        const time = await remote.newestBlock(limit).catch(error => {
          throw refusalOf(error, ending);
        });
        if (time === undefined) throw new Fault('has no block', 'Check that it indexes this chain.');
        const { detail, advice } = headAge(time, clock);
        if (ending !== undefined)
          return { state: 'warning', detail: `answers, ${detail}, but is to end`, advice: ending };
        const found = `answers, ${detail}`;
        return advice === undefined
          ? { state: 'ok', detail: found }
          : { state: 'warning', detail: found, advice };
      } finally {
        await remote.close();
      }
    },
  };
}

/**
 * Advice for an instance of Blockscout whose API is to end; undefined for any other back end. Source: Blockscout's
 * documentation in May 2026, "Per-instance API will be deprecated July 1", which names the gateway as its successor.
 */
export function endingOf(
  { kind, url }: Pick<RemoteConfig, 'kind' | 'url'>,
  chainId: number,
): string | undefined {
  const { hostname } = new URL(url);
  const isInstance = hostname.endsWith('.blockscout.com') && hostname !== GATEWAY;
  if (kind !== 'blockscout' || !isInstance) return undefined;
  return `Blockscout has announced the end of the APIs of its instances for July 2026: use https://${GATEWAY}/${chainId}/api/v2 with a key (tollgate chains --pro), an instance of another operator, or an index of your own.`;
}

/** Host of Blockscout's service for all chains. */
const GATEWAY = 'api.blockscout.com';

/** Turns a refusal into a fault with its status and the matching advice: that of an ending service, if it ends. */
function refusalOf(error: unknown, ending: string | undefined): unknown {
  const status = incidentOf(error)?.status;
  if (status === undefined) return error;
  const advice =
    ending ?? STATUS_ADVICE.get(status) ?? 'Correct the address, or wait until the service has recovered.';
  return new Fault(`answers with status ${status}`, advice, { cause: error });
}

const KEY_ADVICE = 'Correct its key, or request one.';
const QUOTA_ADVICE = 'Its quota is used up: use a key, or one with a higher quota.';
const STATUS_ADVICE: ReadonlyMap<number, string> = new Map([
  [401, KEY_ADVICE],
  [402, QUOTA_ADVICE],
  [403, KEY_ADVICE],
  [404, 'Correct the address: there is no such service.'],
  [429, QUOTA_ADVICE],
]);

/** A remote back end that reports the time of its newest block in UTC milliseconds. */
interface Remote {
  readonly newestBlock: (signal: AbortSignal) => Promise<number | undefined>;
  readonly close: () => Promise<void>;
}

function opened(chain: ChainConfig, settings: RemoteConfig, clock: Clock): Remote {
  const log = silentLogger();
  if (settings.kind === 'blockscout') {
    const fallback = { timeoutMs: TIMEOUT_MS };
    const { backend, upstream } = openBlockscout('doctor', settings, {
      ...{ chain, fallback, clock, log },
      metrics: createMetrics(),
    });
    return {
      close: () => upstream.close(),
      async newestBlock(signal) {
        const request = { path: {}, query: {} };
        const answer = await backend.answers.listMainPageBlocks?.(request, { signal });
        return timeOf(answer?.body[0]?.timestamp);
      },
    };
  }
  const { backend, upstream } = openThirdweb('doctor', settings, {
    ...{ chainId: chain.id, clock, log },
    shared: new Map(),
  });
  return {
    close: () => upstream.close(),
    async newestBlock(signal) {
      const answer = await backend.insights?.records?.(NEWEST_BLOCK, { chainIds: [chain.id], signal });
      const [block] = answer === undefined || answer.records instanceof Uint8Array ? [] : answer.records;
      return timeOf(block?.block_timestamp);
    },
  };
}

/** Converts a time of the contracts to UTC milliseconds. */
function timeOf(value: string | number | null | undefined): number | undefined {
  if (value === null || value === undefined) return undefined;
  const time = typeof value === 'number' ? value * 1000 : Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}
