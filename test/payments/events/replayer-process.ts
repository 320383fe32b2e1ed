import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { replayer } from '#payments/events/replayer.ts';
import { seals } from '#payments/secrets/sealed.ts';

// A replayer in a process of its own, for tests that end it in the hard way. It is told what to do in JSON, and ends
// when there is nothing left to do.

export interface ReplayerTask {
  readonly database: DatabaseOptions;
  /** Opens what the test has sealed. */
  readonly secret: string;
  /** Which look at the clock kills it; undefined lets it come to its end. */
  readonly killedAtLook?: number | undefined;
}

const { database, secret, killedAtLook }: ReplayerTask = JSON.parse(process.argv[2] ?? '');
let looks = 0;
const clock: Clock = {
  ...systemClock,
  now() {
    looks += 1;
    if (looks === killedAtLook) process.kill(process.pid, 'SIGKILL');
    return systemClock.now();
  },
};
const db = openDatabase(database);
const worker = replayer({ db, seals: seals([secret]), clock, log: createLogger({ level: 'silent' }) });
while ((await worker.runOnce(AbortSignal.timeout(30_000))) > 0);
await db.destroy();
