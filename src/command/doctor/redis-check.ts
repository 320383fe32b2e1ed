import { openRedis } from '#stores/redis-connection.ts';
import type { Check } from './check.ts';

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
      const redis = await openRedis({ url, title: 'Redis', setting, failures });
      redis.close();
      if (outage !== undefined) throw outage;
      return { state: 'ok', detail: 'accepts writes' };
    },
  };
}
