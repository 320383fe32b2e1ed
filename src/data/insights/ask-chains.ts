import type { Metrics } from '../../http/metrics.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Chain } from '../chains/chain.ts';
import { timedOut, unsupported, untilAborted } from '../chains/deadline.ts';
import type { Failure } from '../chains/outcome.ts';
import { observed } from '../observer.ts';
import type { Backend, Validity } from '../port/backend.ts';
import { asBackendError, type BackendError } from '../port/backend-error.ts';
import type { InsightsAsk } from '../port/insights.ts';
import { joined } from '../validities.ts';

/** What one back end answered about some of the chains. */
export interface Part<Result> {
  readonly chains: readonly Chain[];
  readonly backend: Backend;
  readonly result: Result;
}

/** What came of asking several chains. */
export interface Asked<Result> {
  /** In no order. */
  readonly parts: readonly Part<Result>[];
  /** Chains that nobody answered for, with why. */
  readonly failed: readonly { readonly chain: Chain; readonly failures: readonly Failure[] }[];
  /** Failures on the way to answers. */
  readonly passedOver: readonly Failure[];
  /** As of the moment before they were asked. */
  readonly validity: Validity | undefined;
}

/** Asks a back end about chains; undefined when it has no answer of this kind. */
export type AskBackend<Result> = (backend: Backend, ask: InsightsAsk) => Promise<Result> | undefined;

export interface AskChainsOptions {
  readonly signal: AbortSignal;
  /** How long one back end may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly metrics: Metrics;
  readonly log: Logger;
}

/** A chain, the back end whose turn it is, and what failed before. */
interface Candidate {
  readonly chain: Chain;
  readonly position: number;
  readonly failures: readonly Failure[];
}

/**
 * Asks all chains at once, each back end by back end as the failure table has it. Chains whose turn it is to be answered
 * by a shared back end are asked about in one call.
 */
export async function askChains<Result>(
  chains: readonly Chain[],
  ask: AskBackend<Result>,
  options: AskChainsOptions,
): Promise<Asked<Result>> {
  const parts: (Part<Result> & { readonly validity: Validity | undefined })[] = [];
  const failed: Candidate[] = [];
  const passedOver: Failure[] = [];
  await go(chains.map(chain => ({ chain, position: 0, failures: [] })));
  const order = new Map(chains.map((chain, index) => [chain.id, index]));
  parts.sort((a, b) => placeOf(a, order) - placeOf(b, order));
  return { parts, failed, passedOver, validity: joined(parts.map(({ validity }) => validity)) };

  async function go(candidates: readonly Candidate[]): Promise<void> {
    const groups = new Map<string, { backend: Backend; members: Candidate[] }>();
    for (const candidate of candidates) {
      const backend = candidate.chain.backends[candidate.position];
      if (backend === undefined) {
        failed.push(candidate);
        continue;
      }
      const key = backend.sharedAs ?? backend.name;
      const group = groups.get(key) ?? { backend, members: [] };
      group.members.push(candidate);
      groups.set(key, group);
    }
    await Promise.all([...groups.values()].map(({ backend, members }) => askTogether(backend, members)));
  }

  async function askTogether(backend: Backend, members: readonly Candidate[]): Promise<void> {
    const { signal, timeoutMs } = options;
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      signal.throwIfAborted();
      const validity = backend.validity?.();
      const pending = ask(backend, { chainIds: members.map(({ chain }) => chain.id), signal: until });
      if (pending === undefined) throw unsupported();
      const result = await observed(options, backend, untilAborted(pending, until));
      parts.push({ chains: members.map(({ chain }) => chain), backend, result, validity });
      passedOver.push(...members.flatMap(({ failures }) => failures));
    } catch (cause) {
      const error = until.aborted ? timedOut(cause) : asBackendError(cause);
      // One chain's trouble must not be that of all who share the back end; an outage is everybody's anyway.
      if (members.length > 1 && error.kind !== 'unavailable') {
        await Promise.all(members.map(member => askTogether(backend, [member])));
        return;
      }
      await failedWith(backend, members, error);
    }
  }

  async function failedWith(
    backend: Backend,
    members: readonly Candidate[],
    error: BackendError,
  ): Promise<void> {
    const next = members.map(({ chain, position, failures }) => ({
      chain,
      position: position + 1,
      failures: [...failures, { chain, backend, error }],
    }));
    const isLastWord = error.kind === 'not_found' || error.kind === 'rejected' || options.signal.aborted;
    if (isLastWord) failed.push(...next);
    else await go(next);
  }
}

function placeOf({ chains }: { chains: readonly Chain[] }, order: ReadonlyMap<number, number>): number {
  return order.get(chains[0]?.id ?? -1) ?? 0;
}
