import { Pool } from 'undici';
import type { Exchange } from '../contract/client.ts';

/** QuestionSource the service, as many questions at a time as there are. */
export interface Client {
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Exchange>;
  close(): Promise<void>;
}

/** An answer that does not come has status 0, and its text says why. */
export function client(baseUrl: string): Client {
  const pool = new Pool(baseUrl, { headersTimeout: 10_000, bodyTimeout: 10_000 });
  return {
    close: () => pool.destroy(),
    async get(target, headers = {}) {
      const startedAt = performance.now();
      const answer = await pool
        .request({ path: target, method: 'GET', headers: { ...headers } })
        .then(async ({ statusCode: status, headers: received, body }) => ({
          status,
          headers: received,
          text: await body.text(),
        }))
        .catch((error: unknown) => ({ status: 0, headers: {}, text: String(error) }));
      return {
        method: 'GET',
        url: baseUrl + target,
        startedAt,
        durationMs: performance.now() - startedAt,
        ...answer,
      };
    },
  };
}
