import { Pool } from 'undici';
import type { Exchange } from '../contract/client.ts';

/** Client of the service, without a limit of concurrent requests. */
export interface Client {
  get(target: string, headers?: Readonly<Record<string, string>>): Promise<Exchange>;
  close(): Promise<void>;
}

/** Creates a client. A missing answer has status 0 and the reason as its text. */
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
