import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const FIXTURES = new URL('../../../test/fixtures/blockscout/', import.meta.url);
const HASH = /^\/api\/v2\/transactions\/(0x[0-9a-f]{64})(\/.*)?$/;

const TRANSACTION = readFileSync(new URL('getTransaction/v11.json', FIXTURES), 'utf8');
const LOGS = readFileSync(new URL('listTransactionLogs/v11.json', FIXTURES), 'utf8');
const OWN_HASH = /"hash": *"(0x[0-9a-f]{64})"/.exec(TRANSACTION)?.[1] ?? '';

export interface Instance extends AsyncDisposable {
  /** Address of its API. */
  readonly url: string;
}

/** Starts a Blockscout that has every transaction, or none, and answers after `latencyMs`. */
export async function startInstance(options: {
  latencyMs: number;
  hasTransactions: boolean;
}): Promise<Instance> {
  const { latencyMs, hasTransactions } = options;
  const server = createServer((request, response) => {
    const [, hash, list] = HASH.exec(request.url?.split('?', 1)[0] ?? '') ?? [];
    const isThere = hasTransactions && hash !== undefined;
    const body = (list === undefined ? TRANSACTION : LOGS).replaceAll(OWN_HASH, hash ?? '');
    const timer = setTimeout(() => {
      response.writeHead(isThere ? 200 : 404, { 'content-type': 'application/json; charset=utf-8' });
      response.end(isThere ? body : '{"message":"Not found"}');
    }, latencyMs);
    response.on('close', () => clearTimeout(timer));
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the instance has no port');
  return {
    url: `http://127.0.0.1:${address.port}/api/v2`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
