import { startWorker } from '../../lib/worker.ts';
import { watcherName } from '../model/payment-chain.ts';
import { type ChainWatcherOptions, chainWatcher, type WatcherStatus } from './chain-watcher.ts';

/**
 * Watches a chain until it is stopped. After a look without news it pauses for `pauseMs`, or by default for the
 * watcher's own pause, usually the chain's block time.
 */
export function startChainWatcher(
  options: ChainWatcherOptions & { readonly pauseMs?: number },
): RunningChainWatcher {
  const { clock, log } = options;
  const watcher = chainWatcher(options);
  const pauseMs = options.pauseMs ?? watcher.pauseMs;
  const running = startWorker(watcher, { pauseMs, clock, log });
  const forgetTopic = options.db.wakeups.on(watcherName(options.chain.id), () => {
    watcher.wake();
    running.nudge();
  });
  let heartbeatMs = 0;
  const heartbeat = startWorker(
    {
      name: `lease of the ${watcher.name}`,
      async runOnce() {
        heartbeatMs = await watcher.renew();
        return 0;
      },
    },
    { pauseMs: () => heartbeatMs, clock, log },
  );
  return {
    runOnce: () => watcher.runOnce(new AbortController().signal),
    status: watcher.status,
    async stop() {
      forgetTopic();
      await running.stop();
      await heartbeat.stop();
      await watcher.resign();
    },
  };
}

export interface RunningChainWatcher {
  /** Runs one look after the current one. @throws WrongChain, or the error of the node */
  runOnce(): Promise<number>;
  status(): WatcherStatus;
  /** Resolves when the current look has ended. */
  stop(): Promise<void>;
}
