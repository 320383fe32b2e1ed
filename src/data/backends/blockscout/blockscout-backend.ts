import type { ClockAndLog } from '#lib/logger.ts';
import type { Backend } from '../port/backend.ts';
import type { Upstream } from '../upstream/upstream.ts';
import { addressRecordAnswers } from './address-records.ts';
import { addressAnswers } from './addresses.ts';
import { blockAnswers } from './blocks.ts';
import { recordDepths } from './client/confirmations.ts';
import { indexing, unlessIncomplete } from './client/indexing.ts';
import { type BlockscoutSource, refusals } from './client/source.ts';
import { feedAnswers } from './feeds.ts';
import { recordAnswers } from './records.ts';
import { searchAnswers } from './search.ts';
import { tokenAnswers } from './tokens.ts';
import { transactionAnswers, transactionListAnswers } from './transactions.ts';

export interface BlockscoutBackendOptions extends ClockAndLog {
  readonly name: string;
  readonly chainId: number;
  /** Blocks after which the chain's records count as final. */
  readonly confirmations: number;
  /** The instance's API, `…/api/v2`, opened with `judge`. */
  readonly upstream: Upstream;
  /** Time after the request in which a list may read further pages, in milliseconds; 5 s when absent. */
  readonly readOnMs?: number;
  /** Called with the kind of every record that the contract cannot represent. */
  onDropped(kind: string): void;
}

/** Half of the default client deadline. */
const READ_ON_MS = 5_000;

/** Back end of one chain, served by a Blockscout instance of version 5 to 12. */
export function blockscoutBackend(options: BlockscoutBackendOptions): Backend {
  const { name, chainId, confirmations, upstream, clock, readOnMs = READ_ON_MS, log, onDropped } = options;
  const settled = recordDepths({ upstream, confirmations, clock });
  const source: BlockscoutSource = {
    name,
    chainId,
    upstream,
    depths: settled,
    indexing: indexing({ upstream, clock }),
    refusals: refusals(clock),
    clock,
    readOnMs,
    log,
    onDropped,
  };
  const answers = {
    ...transactionAnswers(source),
    ...transactionListAnswers(source),
    ...blockAnswers(source),
    ...feedAnswers(source),
    ...addressAnswers(source),
    ...addressRecordAnswers(source),
    ...tokenAnswers(source),
    ...recordAnswers(source),
    ...searchAnswers(source),
  };
  return {
    kind: 'blockscout',
    name,
    chainId,
    answers: unlessIncomplete(answers, source),
    status: () => ({ ready: upstream.isReady(), head: settled.head(), lag: undefined }),
    refreshStatus: async () => void (await settled.latest()),
  };
}

/** Host of the paid gateway in front of many instances, and the prefix of its keys. */
const GATEWAY_HOST = 'api.blockscout.com';
const GATEWAY_KEY = 'proapi_';

/** Header for an API key. In an address the key would appear in logs and cursors. */
export function keyHeader(url: string, apiKey: string | undefined): Record<string, string> {
  if (apiKey === undefined) return {};
  const isGateway = new URL(url).hostname === GATEWAY_HOST || apiKey.startsWith(GATEWAY_KEY);
  return isGateway ? { authorization: `Bearer ${apiKey}` } : { 'x-api-key': apiKey };
}
