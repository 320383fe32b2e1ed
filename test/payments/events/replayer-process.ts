import { type DatabaseOptions, openDatabase } from '#db/open.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { replayer } from '#payments/events/replayer.ts';
import { seals } from '#payments/secrets/sealed.ts';
import { PATIENCE_MS } from '../../lab/until.ts';

// A replayer in its own process, for tests that kill it. Its task is JSON in an argument; it exits when no work is
// left.

export interface ReplayerTask {
  readonly database: DatabaseOptions;
  /** Opens values that the test has sealed. */
  readonly secret: string;
  /** Number of the clock reading that kills the process; undefined lets it finish. */
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
while ((await worker.runOnce(AbortSignal.timeout(PATIENCE_MS))) > 0);
await db.destroy();
