import { CannotStart } from '#lib/startup-error.ts';
import { openRedis, PasswordRequired } from '#stores/redis-connection.ts';
import { type Check, Fault } from './check.ts';

/** Connects to a Redis as the start of a server does. This writes one key that expires at once. */
export function redisCheck({ setting, url }: { setting: string; url: string }): Check {
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

/** Adds advice on the form of the address to the refusal of a server that requires a password. */
function withoutPassword(error: unknown): unknown {
  if (!(error instanceof CannotStart && error.cause instanceof PasswordRequired)) return error;
  return new Fault('asks for a password', 'Write it into the address: redis://:PASSWORD@HOST:PORT.', {
    cause: error,
  });
}
