import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { type DispatcherStep, startDispatcher } from '#payments/webhooks/dispatcher.ts';
import { loopbackSender } from '../../support/loopback-sender.ts';

// A dispatcher in a process of its own, for tests that end it in the hard way. It is told what to do in JSON.

export interface DispatcherTask {
  readonly database: DatabaseOptions;
  /** Opens what the test has sealed. */
  readonly secret: string;
  /** How much later it is for this process than for the others, in milliseconds. */
  readonly clockOffsetMs?: number;
  /** Where it is killed: at the so many-th time that it gets there. */
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
    // Not one step further while the signal is on its way.
    await new Promise(() => undefined);
  },
});
