import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { type DispatcherStep, startDispatcher } from '#payments/webhooks/dispatcher.ts';
import { loopbackSender } from '../../support/loopback-sender.ts';

// A dispatcher in its own process, for tests that kill it. Its task is JSON in an argument.

export interface DispatcherTask {
  readonly database: DatabaseOptions;
  /** Opens values that the test has sealed. */
  readonly secret: string;
  /** Milliseconds by which the clock of this process is ahead. */
  readonly clockOffsetMs?: number;
  /** The step that kills the process, at its `time`-th occurrence. */
  readonly crash?: { readonly step: DispatcherStep; readonly time: number };
}

const task: DispatcherTask = JSON.parse(process.argv[2] ?? '');
const { database, secret, clockOffsetMs = 0, crash } = task;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + clockOffsetMs };
let times = 0;

startDispatcher({
  db: openDatabase(database),
  seals: seals([secret]),
  clock,
  log: createLogger({ level: 'silent' }),
  sender: loopbackSender(),
  concurrencyPerEndpoint: 5,
  pauseMs: 20,
  async fault(step) {
    if (step !== crash?.step) return;
    times += 1;
    if (times !== crash.time) return;
    process.kill(process.pid, 'SIGKILL');
    // Stops here until the signal arrives.
    await new Promise(() => undefined);
  },
});
