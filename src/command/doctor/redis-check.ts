import { CannotStart, reasonOf } from '#lib/startup-error.ts';
import { openRedis, PasswordRequired } from '#stores/redis-connection.ts';
import { type ConfigCheck, Fault } from './check.ts';

/** Connects to a Redis as the start of a server does. This writes one key that expires at once. */
export function redisCheck({ setting, url }: { setting: string; url: string }): ConfigCheck {
  return {
    setting,
    subject: `Redis ${new URL(url).host}`,
    advice: 'Start the Redis, or correct its address, its password or the rights of its user.',
    async run() {
      let outage: unknown;
      const failures = {
        report: (error: unknown) => {
          outage ??= error;
        },
        works: () => undefined,
      };
      const redis = await openRedis({ url, title: 'Redis', setting, failures }).catch(error => {
        throw withoutPassword(error);
      });
      redis.close();
      if (outage !== undefined) throw outage;
      return { state: 'ok', detail: 'accepts writes' };
    },
  };
}

/** Refusals of a wrong user or password. The second one is that of a server without a password. */
const WRONG_PASSWORD = /WRONGPASS|AUTH <password> called without any password|invalid username-password/;

/** Adds advice on the form of the address to the refusal of a password, or of its absence. */
function withoutPassword(error: unknown): unknown {
  if (!(error instanceof CannotStart)) return error;
  if (WRONG_PASSWORD.test(reasonOf(error.cause))) {
    const advice = 'Correct the user and the password in the address: redis://USER:PASSWORD@HOST:PORT.';
    return new Fault('refuses the password', advice, { cause: error });
  }
  if (!(error.cause instanceof PasswordRequired)) return error;
  return new Fault('asks for a password', 'Write it into the address: redis://:PASSWORD@HOST:PORT.', {
    cause: error,
  });
}
