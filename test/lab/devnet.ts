import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Devnet, startDevnet } from '../../src/devnet/start-devnet.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { type ChainKind, chainKind } from './chain-kind.ts';

/** Time of the last block of every test chain, so runs can be compared: 2026-05-04 12:00 UTC, in milliseconds. */
export const TEST_END_TIME = Date.UTC(2026, 4, 4, 12);

/** A filled devnet in its own folder, which adds no blocks by itself. `await using` ends it. */
export interface TestDevnet extends Devnet, AsyncDisposable {
  folder: string;
}

/** Starts a devnet and waits until it is filled. Sixty blocks contain every kind of activity and a full block. */
export async function startTestDevnet({
  chains = 1,
  blocks = 60,
  seed = 1,
  endTime = TEST_END_TIME,
  engine = chainKind.engine,
  hardfork = chainKind.hardfork,
}: Partial<ChainKind> & {
  chains?: number;
  blocks?: number;
  seed?: number;
  endTime?: number;
} = {}): Promise<TestDevnet> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-devnet-'));
  const log = createLogger({ level: 'silent' });
  const devnet = await startDevnet({
    folder,
    isFolderDisposable: true,
    chains,
    blocks,
    trickleMs: 0,
    seed,
    clock: { ...systemClock, now: () => endTime },
    log,
    engine,
    hardfork,
  });
  async function stop(): Promise<void> {
    await devnet.stop();
    await rm(folder, { recursive: true, force: true });
  }
  try {
    await devnet.filled;
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...devnet, folder, stop, [Symbol.asyncDispose]: stop };
}
