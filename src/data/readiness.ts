import type { ReadinessCheck } from '../http/health.ts';
import { inTime } from '../lib/in-time.ts';
import { type ClockAndLog, type Logger, logAndGoOn } from '../lib/logger.ts';
import type { Backend } from './backends/port/backend.ts';

/** A chain whose state decides readiness. */
export interface ReadinessChain {
  readonly id: number;
  readonly backends: readonly Pick<Backend, 'kind' | 'status' | 'probe' | 'isShared'>[];
}

interface ReadinessOptions extends ClockAndLog {
  /** False while the process fills its own chains. */
  readonly isFilled: () => boolean;
}

/** Longest time after the start in which a process waits for its stored indexes to catch up. */
const WAIT_MS = 10_000;
/** Longest wait for the database of an index. The whole check has two seconds. */
const PROBE_WITHIN_MS = 1_000;

/**
 * - `ready`: the chain can be served.
 * - `stored`: the same, from an index that has not caught up with its node since the start of the process.
 * - `filling`: its index has never been complete.
 * - `away`: the database that its index shares with other processes cannot be reached.
 * - `out`: the database of its index, which is of this process alone, cannot be read.
 */
type ChainState = 'ready' | 'stored' | 'filling' | 'away' | 'out';

/** State of each chain after the words that describe its index. */
const WORDS: Readonly<Record<ChainState, string>> = {
  ready: '',
  stored: ', not caught up since the start',
  filling: ', being filled',
  away: ', its database cannot be reached',
  out: ', its database cannot be read',
};

/**
 * Readiness of the process, with the state of each chain. It is ready once filling has ended and one chain can be
 * served. Afterwards only a fault that is of this process alone ends it (Decision 317).
 */
export function readiness(
  chains: readonly ReadinessChain[],
  { isFilled, clock, log }: ReadinessOptions,
): Readonly<Record<string, ReadinessCheck>> {
  const startedAt = clock.now();
  const states = chains.map(chain => stateReader(chain, log));
  let reading: Promise<readonly ChainState[]> | undefined;
  let wasReady = false;

  /** One reading serves the checks of all chains. */
  function readAll(): Promise<readonly ChainState[]> {
    reading ??= Promise.all(states.map(read => read())).finally(() => {
      reading = undefined;
    });
    return reading;
  }

  function isReady(all: readonly ChainState[]): boolean {
    // Cached answers are sent while a database is away.
    if (wasReady) return all.some(state => state !== 'out');
    const isWaiting = all.includes('stored') && Math.abs(clock.now() - startedAt) < WAIT_MS;
    wasReady = !isWaiting && (all.includes('ready') || all.includes('stored'));
    return wasReady;
  }

  return Object.fromEntries(
    chains.map((chain, index) => [
      `chain ${chain.id}`,
      async () => {
        if (!isFilled()) return { ok: false, detail: 'being filled' };
        const all = await readAll();
        return { ok: isReady(all), detail: `${stateText(chain)}${WORDS[all[index] ?? 'filling']}` };
      },
    ]),
  );
}

/** Reads the state of a chain: the best of its back ends. */
function stateReader({ id, backends }: ReadinessChain, log: Logger): () => Promise<ChainState> {
  const caughtUp = new Set<unknown>();
  const stored = new Set<unknown>(backends.filter(({ status }) => status().head !== undefined));

  async function stateOf(index: ReadinessChain['backends'][number]): Promise<ChainState> {
    const { ready, stalled = false, head } = index.status();
    if (ready) caughtUp.add(index);
    const canRead = await inTime(index.probe?.() ?? Promise.resolve(), PROBE_WITHIN_MS).then(
      () => true,
      error => {
        logAndGoOn(log, `reading the index of chain ${id}`)(error);
        return false;
      },
    );
    if (!canRead) return index.isShared === true ? 'away' : 'out';
    if (caughtUp.has(index)) return 'ready';
    if (stored.has(index)) return 'stored';
    return stalled && head !== undefined ? 'ready' : 'filling';
  }

  return async () => {
    // A remote back end fails for every process at once, so it counts as ready (Decision 145).
    if (backends.some(({ kind }) => kind !== 'index')) return 'ready';
    const all = await Promise.all(backends.map(stateOf));
    const best = (['ready', 'stored', 'filling', 'away'] as const).find(state => all.includes(state));
    return best ?? 'out';
  };
}

function stateText({ backends }: ReadinessChain): string {
  const index = backends.find(({ kind }) => kind === 'index');
  if (index === undefined) return 'served by other services';
  const { head, lag, lagSeconds, stalled = false } = index.status();
  if (head === undefined) return 'nothing is indexed yet';
  const blocks = `${lag ?? 'an unknown number of'} blocks`;
  const behind =
    lag === 0 ? '' : `, ${blocks}${lagSeconds === undefined ? '' : ` and ${lagSeconds} s`} behind`;
  return `at block ${head}${behind}${stalled ? ', stalled' : ''}`;
}
