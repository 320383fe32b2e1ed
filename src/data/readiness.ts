import type { Check } from '../http/health.ts';
import type { Backend } from './backends/port/backend.ts';
import type { Chain } from './fallback/chain.ts';

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

function indexCheck(index: Backend): Check {
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
