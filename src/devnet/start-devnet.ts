import type { Address } from 'viem';
import type { Clock } from '../lib/clock.ts';
import type { Logger } from '../lib/logger.ts';
import { blockTimes } from './block-times.ts';

import { type ChainProcess, startChainProcess } from './chain/chain-process.ts';
import { type EngineName, findEngine } from './chain/engine.ts';
import { type EmbeddedChain, embeddedChainIds, type FillProgress } from './embedded-chain.ts';

const MINUTE_MS = 60_000;

/** The running embedded chains. */
export interface Devnet {
  chains: EmbeddedChain[];
  /** Address of an account that takes no part in the activity. */
  merchant: Address;
  /** Resolves when every chain holds its activity; rejects when the fill fails or is stopped. */
  filled: Promise<void>;
  /** Resolves with the reason when a chain ends by itself; otherwise never. */
  failed: Promise<Error>;
  progress(): FillProgress[];
  /** Ends the activity and the chains and removes their folders; resolves when all are gone. */
  stop(): Promise<void>;
}

export interface DevnetOptions {
  /** The chains' states live below it, each in its own folder. */
  folder: string;
  /** Removes `folder` whole when this process is killed and cannot do it itself. */
  isFolderDisposable?: boolean;
  /** How many chains. */
  chains: number;
  /** Blocks of the fill; from about 25 on every kind of activity is in them, from 40 on a block of over 50 transactions. */
  blocks: number;
  /** Milliseconds from one block to the next after the fill; 0 for none. */
  trickleMs: number;
  seed: number;
  clock: Clock;
  log: Logger;
  /** The last block of the fill is at this time (ms); by default the minute now running. */
  endTime?: number;
  /** What runs the chains; when absent, anvil where there is one, else EDR. */
  engine?: EngineName | undefined;
  /** Path of an anvil to use where the npm package has none. */
  anvil?: string;
}

/**
 * Starts the embedded chains and resolves as soon as they answer; the deterministic activity then fills them.
 * @throws EngineMissing when there is no engine; Error when one does not start.
 */
export async function startDevnet(options: DevnetOptions): Promise<Devnet> {
  const { folder, isFolderDisposable = false, chains: count, blocks, trickleMs, seed, clock, log } = options;
  const { endTime = Math.floor(clock.now() / MINUTE_MS) * MINUTE_MS } = options;
  const engine = findEngine({ engine: options.engine, anvil: options.anvil });
  log.info({ engine: engine.name }, 'the embedded chains start');
  const ids = embeddedChainIds(count);
  const [genesisTime = 0] = blockTimes({ blocks, endTime });
  const stopping = new AbortController();
  const [processes, { chainActivities }] = await Promise.all([
    startAll(
      ids.map(chainId =>
        startChainProcess({
          engine,
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
  // A failed fill is the business of whoever awaits `filled`; nobody has to.
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
      // The chains first: a call that still waits for one of them then fails at once.
      await Promise.all(processes.map(process => process.stop()));
      await Promise.allSettled([filled, ...trickles]);
    },
  };
}

/** All of them, or an error and none left running. */
async function startAll(starts: Promise<ChainProcess>[]): Promise<ChainProcess[]> {
  const outcomes = await Promise.allSettled(starts);
  const started = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  const failure = outcomes.find(outcome => outcome.status === 'rejected');
  if (failure === undefined) return started;
  await Promise.all(started.map(process => process.stop()));
  throw failure.reason;
}
