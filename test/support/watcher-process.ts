import { type DatabaseOptions, openDatabase } from '../../src/db/open.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createChainClient } from '../../src/node/client.ts';
import { type PaymentChain, paymentChains } from '../../src/payments/model/payment-chain.ts';
import { seals as sealsOf } from '../../src/payments/secrets/sealed.ts';
import { chainWatcher } from '../../src/payments/watcher/chain-watcher.ts';
import { expiryWorker } from '../../src/payments/watcher/expiry.ts';
import { PATIENCE_MS } from '../lab/until.ts';

/** The task of `watcher-process.ts`, as JSON in its first argument. */
export interface WatcherOrder {
  readonly database: DatabaseOptions;
  readonly rpcUrl: string;
  readonly chain: Omit<PaymentChain, 'explorerUrl'>;
  readonly secret: string;
  /** The step at which the process sends itself the signal; null to finish. */
  readonly killAt: string | null;
  /** Signal at `killAt`; SIGKILL when absent. */
  readonly signal?: 'SIGKILL' | 'SIGSTOP';
}

/** Enough rounds for a watcher to become the leader after a killed one and to settle everything. */
const MAX_ROUNDS = 60;

/** Watches until no work is left, or until it is killed. */
async function run({
  database,
  rpcUrl,
  chain,
  secret,
  killAt,
  signal: kill = 'SIGKILL',
}: WatcherOrder): Promise<void> {
  const db = openDatabase(database);
  const log = createLogger({ level: 'silent' });
  const seals = sealsOf([secret]);
  let isDone = false;
  const fault = (step: string) => {
    if (isDone || step !== killAt) return;
    isDone = true;
    process.kill(process.pid, kill);
  };
  const client = createChainClient({ id: chain.id, rpcUrls: [rpcUrl], timeoutMs: PATIENCE_MS, log });
  const watched = { ...chain, explorerUrl: undefined };
  const deps = { db, seals, clock: systemClock, log, fault };
  const watcher = chainWatcher({ ...deps, chain: watched, client, leaseMs: 300 });
  const { signal } = new AbortController();
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const done = await watcher.runOnce(signal);
    if (done === 0 && watcher.status().scannedAt !== undefined) break;
    await systemClock.sleep(20);
  }
  await expiryWorker({ ...deps, chains: paymentChains([watched]) }).runOnce(signal);
  await watcher.resign();
  await db.destroy();
}

await run(JSON.parse(process.argv[2] ?? ''));
