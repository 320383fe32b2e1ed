import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDevnet } from '../../src/devnet/start-devnet.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';
import type { Figure } from './figure.ts';
import { median } from './server-process.ts';
import { benchSync } from './sync.ts';

const ROUNDS = 3;
const BLOCKS = 300;
const TARGET = 0.4;

/** Rate of indexing an embedded chain as a share of only fetching the same blocks. */
export async function benchSyncRate(): Promise<Figure[]> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  const log = createLogger({ level: 'warn' });
  const devnet = await startDevnet({
    folder,
    isFolderDisposable: true,
    chains: 1,
    blocks: BLOCKS,
    trickleMs: 0,
    seed: 1,
    clock: systemClock,
    log,
  });
  try {
    await devnet.filled;
    const [chain] = devnet.chains;
    if (chain === undefined) throw new Error('no embedded chain');
    const ratios: number[] = [];
    const rates: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const { fetchOnlyBlocksPerSecond, syncBlocksPerSecond } = await benchSync({
        rpcUrl: chain.rpcUrl,
        blocks: BLOCKS,
      });
      ratios.push(syncBlocksPerSecond / fetchOnlyBlocksPerSecond);
      rates.push(syncBlocksPerSecond);
    }
    const ratio = median(ratios);
    return [
      {
        name: 'sync rate over only fetching the same blocks',
        value: ratio,
        target: `≥ ${TARGET}`,
        ok: ratio >= TARGET,
        note: `${Math.round(median(rates))} blocks/s`,
      },
    ];
  } finally {
    await devnet.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
