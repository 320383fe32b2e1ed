import type { Address } from 'viem';
import type { ClockAndLog } from '../lib/logger.ts';
import { type ChainProcess, startChainProcess } from './chain/chain-process.ts';
import { type EngineName, findEngine, type Hardfork } from './chain/engine.ts';
import { type EmbeddedChain, embeddedChainIds, type FillProgress } from './embedded-chain.ts';
import { plannedTimes } from './plan.ts';

const MINUTE_MS = 60_000;

/** The running embedded chains. */
export interface Devnet {
  chains: EmbeddedChain[];
  /** Address of an account that takes no part in the activity. */
  merchant: Address;
  /** Resolves when every chain is filled. Rejects when the fill fails or is stopped. */
  filled: Promise<void>;
  /** Resolves with the reason when a chain ends unexpectedly. */
  failed: Promise<Error>;
  progress(): FillProgress[];
  /** Ends the activity and the chains, and removes their folders. Resolves when all are gone. */
  stop(): Promise<void>;
}

export interface DevnetOptions extends ClockAndLog {
  /** Contains the state of each chain in a subfolder. */
  folder: string;
  /** Removes all of `folder` when this process is killed. */
  isFolderDisposable?: boolean;
  /** Number of chains. */
  chains: number;
  /**
   * Blocks of the fill. About 25 are enough for every kind of activity; 40 include a block of more than 50
   * transactions.
   */
  blocks: number;
  /** Milliseconds between blocks after the fill; 0 for none. */
  trickleMs: number;
  seed: number;
  /** Engine of the chains. When absent, anvil if there is one, else EDR. */
  engine?: EngineName | undefined;
  /** Rules of the chains; `prague` when absent. */
  hardfork?: Hardfork;
  /** Path of an anvil to use where the npm package has none. */
  anvil?: string;
}

/**
 * Starts the embedded chains and resolves as soon as they answer; the deterministic activity then fills them.
 * @throws EngineMissing when there is no engine; Error when one does not start.
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { folder, isFolderDisposable = false, chains: count, blocks, trickleMs, seed, clock, log } = options;
  const { hardfork = 'prague' } = options;
  const endTime = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS;
  const engine = findEngine({ engine: options.engine, hardfork, anvil: options.anvil });
  log.info({ engine: engine.name, hardfork }, 'starting the embedded chains');
  const ids = embeddedChainIds(count);
  const [genesisTime = 0] = plannedTimes({ blocks, endTime });
  const stopping = new AbortController();
  const [processes, { chainActivities }] = await Promise.all([
    startAll(
      ids.map(chainId =>
        startChainProcess({
          engine,
          hardfork,
          chainId,
          folder,
          genesisTime,
          isRunFolderDisposable: isFolderDisposable,
        }),
      ),
    ),
    import('./chain-activity.ts'), // takes about as long as a chain to start
  ]);
  const { activities: running, merchant } = chainActivities(processes, {
    ids,
    blocks,
    endTime,
    seed,
    trickleMs,
    clock,
    log,
    signal: stopping.signal,
  });

  const filled = Promise.all(running.map(chain => chain.filled)).then(() => undefined);
  const trickles = running.map(chain => chain.filled.then(chain.trickle));
  // Prevents an unhandled rejection when no caller awaits `filled`.
  for (const promise of [filled, ...trickles]) promise.catch(() => {});
  const failed = Promise.race(processes.map(process => process.failed));
  void failed.then(error => {
    stopping.abort(error);
    log.error({ err: error }, 'an embedded chain ended');
  });

  return {
    chains: running.map(({ chain }) => chain),
    merchant,
    filled,
    failed,
    progress: () => running.map(({ progress }) => ({ ...progress })),
    stop: async () => {
      stopping.abort(new Error('the embedded chains are stopped'));
      // The chains stop first, so that pending calls to them fail at once.
      await Promise.all(processes.map(process => process.stop()));
      await Promise.allSettled([filled, ...trickles]);
    },
  };
}

/** Waits for all chains. When one fails to start, stops the others and rejects. */
async function startAll(starts: Promise<ChainProcess>[]): Promise<ChainProcess[]> {
  const outcomes = await Promise.allSettled(starts);
  const started = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failure = outcomes.find(outcome => outcome.status === 'rejected');
  if (failure === undefined) return started;
  await Promise.all(started.map(process => process.stop()));
  throw failure.reason;
}
