import type { Check } from '../http/health.ts';
import type { Clock } from '../lib/clock.ts';
import { inTime } from '../lib/in-time.ts';
import { type Logger, logAndGoOn } from '../lib/logger.ts';
import type { Backend } from './backends/port/backend.ts';

/** A chain whose state decides readiness. */
export interface ReadinessChain {
  readonly id: number;
  readonly backends: readonly Pick<Backend, 'kind' | 'status' | 'probe'>[];
}

interface ReadinessOptions {
  /** False while the process fills its own chains. */
  readonly isFilled: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Longest time after the start in which a process waits for the other chains once one is ready. */
const WAIT_MS = 60_000;
/** Longest wait for the database of an index. The whole check has two seconds. */
const PROBE_WITHIN_MS = 1_000;

/** `awaited`: an index catches up. `out`: its database cannot be read. */
type ChainState = 'ready' | 'awaited' | 'out';

/**
 * Readiness by chain. All checks pass once filling has ended, one chain is ready and no other one is awaited. What
 * happens on one chain never ends it (Decision 287).
 */
export function readiness(
  chains: readonly ReadinessChain[],
  { isFilled, clock, log }: ReadinessOptions,
): Readonly<Record<string, Check>> {
  const startedAt = clock.now();
  const states = chains.map(chain => stateReader(chain, log));
  let reading: Promise<readonly ChainState[]> | undefined;

  /** One reading serves the checks of all chains. */
  function readAll(): Promise<readonly ChainState[]> {
    reading ??= Promise.all(states.map(read => read())).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  async function isReady(): Promise<boolean> {
    if (!isFilled()) return false;
    const all = await readAll();
    const isWaiting = all.includes('awaited') && Math.abs(clock.now() - startedAt) < WAIT_MS;
    return all.includes('ready') && !isWaiting;
  }

  return Object.fromEntries(
    chains.map(chain => [
      `chain ${chain.id}`,
      async () => ({ ok: await isReady(), detail: isFilled() ? detailOf(chain) : 'being filled' }),
    ]),
  );
}

/** Reads the state of a chain. An index that has caught up once stays ready while its database can be read. */
function stateReader({ id, backends }: ReadinessChain, log: Logger): () => Promise<ChainState> {
  const caughtUp = new Set<unknown>();
  return async () => {
    // A remote back end fails for every process at once, so it counts as ready (Decision 145).
    if (backends.some(({ kind }) => kind !== 'index')) return 'ready';
    const all = await Promise.all(
      backends.map(async (index): Promise<ChainState> => {
        const { ready, stalled = false, head } = index.status();
        if (ready) caughtUp.add(index);
        const canRead = await inTime(index.probe?.() ?? Promise.resolve(), PROBE_WITHIN_MS).then(
          () => true,
          error => {
            logAndGoOn(log, `reading the index of chain ${id}`)(error);
            return false;
          },
        );
        if (!canRead) return 'out';
        return caughtUp.has(index) || (stalled && head !== undefined) ? 'ready' : 'awaited';
      }),
    );
    return all.find(state => state === 'ready') ?? all.find(state => state === 'awaited') ?? 'out';
  };
}

function detailOf({ backends }: ReadinessChain): string {
  const index = backends.find(({ kind }) => kind === 'index');
  if (index === undefined) return 'served by other services';
  const { head, lag, stalled = false } = index.status();
  if (head === undefined) return 'nothing is indexed yet';
  const place = `at block ${head}, ${lag ?? 'an unknown number of'} behind`;
  return stalled ? `${place}, stalled` : place;
}
