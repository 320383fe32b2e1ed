import type { Exchange } from './client.ts';

/** Secrets of API keys, webhooks and messenger links, which the payments platform returns once. */
const SECRETS = /\b(tg_live_|tg_test_|link_(?=[0-9A-Za-z]{32}\b)|whsec_)[0-9A-Za-z+/]{32,}=*/g;

/** Converts traffic to an HTTP Archive 1.2, for browsers and proxies, without the secrets in responses. */
export function harOf(exchanges: readonly Exchange[]): unknown {
  return {
    log: {
      version: '1.2',
      creator: { name: 'tollgate contract runner', version: '1.0.0' },
      entries: exchanges.map(exchange => ({
        startedDateTime: new Date(exchange.startedAt).toISOString(),
        time: exchange.durationMs,
        request: {
          method: exchange.method,
          url: exchange.url,
          httpVersion: 'HTTP/1.1',
          headers: [],
          cookies: [],
          queryString: queryOf(exchange.url),
          headersSize: -1,
          bodySize: Buffer.byteLength(exchange.sent ?? ''),
          ...(exchange.sent === undefined ? {} : { postData: { mimeType: '', text: exchange.sent } }),
        },
        response: {
          status: exchange.status,
          statusText: '',
          httpVersion: 'HTTP/1.1',
          headers: Object.entries(exchange.headers).map(([name, value]) => ({ name, value: String(value) })),
          cookies: [],
          content: {
            size: Buffer.byteLength(exchange.text),
            mimeType: String(exchange.headers['content-type'] ?? ''),
            text: exchange.text.replaceAll(SECRETS, '$1…'),
          },
          redirectURL: '',
          headersSize: -1,
          bodySize: Buffer.byteLength(exchange.text),
        },
        cache: {},
        timings: { send: 0, wait: exchange.durationMs, receive: 0 },
      })),
    },
  };
}

function queryOf(url: string): { name: string; value: string }[] {
  const query = url.split('?')[1] ?? '';
  return [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
}
