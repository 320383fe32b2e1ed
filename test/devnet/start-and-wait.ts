// Run by lifecycle.slow.test.ts as a process of its own: starts two chains in the given folder, says which processes
// they are, and waits to be killed.
import { startDevnet } from '../../src/devnet/start-devnet.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { createLogger } from '../../src/lib/logger.ts';

const devnet = await startDevnet({
  folder: process.argv[2] ?? '',
  isFolderDisposable: true,
  chains: 2,
  blocks: 300,
  trickleMs: 0,
  seed: 1,
  clock: systemClock,
  log: createLogger({ level: 'silent' }),
});
const pids = devnet.chains.flatMap(({ pids: { supervisor, engine } }) => [supervisor, engine]);
process.stdout.write(`${JSON.stringify(pids)}\n`);
await devnet.failed;
