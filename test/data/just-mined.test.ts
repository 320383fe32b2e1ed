import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLogger } from '../../src/lib/logger.ts';
import { CHAIN_ID, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { until } from '../lab/until.ts';
import { type Answer, type Client, client } from '../support/contract-client.ts';

/** A poll so slow that every block is requested before the index sees it on its own. */
const POLL_MS = 30_000;
const ROUNDS = 6;
const PARTS = [
  '',
  '/logs',
  '/token-transfers',
  '/summary',
  '/internal-transactions',
  '/state-changes',
  '/raw-trace',
];
const BLOCK_PARTS = ['', '/transactions', '/internal-transactions', '/withdrawals'];

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  await chain.mine();
});
afterAll(() => chain.stop());

/** A data service over an index of the chain behind `rpcUrl`, and its logged errors. */
async function serve(rpcUrl = chain.rpcUrl) {
  const errors: string[] = [];
  const file = join(chain.folder, `just-mined-${Math.random()}.db`);
  const service = await startTestDataService([], {
    chains: [
      {
        id: CHAIN_ID,
        name: 'Chain',
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        rpcUrls: [rpcUrl],
        abis: [],
        backends: [{ kind: 'index', database: { file }, fromBlock: 0, pollMs: POLL_MS }],
      },
    ],
    log: createLogger({ level: 'error', destination: { write: line => void errors.push(line) } }),
    rateLimitPerMinute: 1e9,
  });
  return { service, api: client(service.url), errors };
}

/** Repeats a request while the index is behind, as `Retry-After` asks: a busy machine may need more than half a second. */
function patiently(api: Client, path: string): Promise<Answer> {
  return until(
    () => api.get(path),
    ({ status }) => status !== 503,
  );
}

/** Requests everything about one transaction at once. */
function everythingOf(hash: string, ask: (path: string) => Promise<Answer>): Promise<Answer[]> {
  const paths = PARTS.map(part => `/explorer/transactions/${hash}${part}`);
  return Promise.all([...paths, `/explorer/search/check-redirect?q=${hash}`].map(ask));
}

test('a transaction that was just mined is found at once, by every operation', async () => {
  const { service, api, errors } = await serve();
  const answers: Answer[] = [];

  for (let round = 0; round < ROUNDS; round += 1) {
    const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
    if (round % 2 === 1) answers.push(...(await everythingOf(hash, path => patiently(api, path))));
    await chain.mine();
    answers.push(...(await everythingOf(hash, path => patiently(api, path))));
    const { body } = await api.get(`/explorer/transactions/${hash}?chain_id=${CHAIN_ID}`);
    expect(body).toMatchObject({ hash });
  }
  await service.close();

  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  expect(errors).toEqual([]);
});

test('a block that was just mined is found at once, by number and by hash', async () => {
  const { service, api, errors } = await serve();
  const answers: Answer[] = [];

  for (let round = 0; round < ROUNDS; round += 1) {
    await chain.mine();
    const newest = await chain.client.request({
      method: 'eth_getBlockByNumber',
      params: ['latest', false],
    });
    const id = round % 2 === 0 ? Number(newest?.number) : newest?.hash;
    const part = BLOCK_PARTS[round % BLOCK_PARTS.length];
    answers.push(await patiently(api, `/explorer/blocks/${id}${part}?chain_id=${CHAIN_ID}`));
  }
  await service.close();

  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: ROUNDS }, () => 200));
  expect(errors).toEqual([]);
});

test('while a chain mines, requests for its newest transactions are 200, 404 or, behind the node, 503', async () => {
  const { service, api, errors } = await serve();
  const statuses = new Set<number>();
  let isMining = true;
  let newest = `0x${'11'.repeat(32)}`;
  const mining = (async () => {
    for (let block = 0; block < 8; block += 1) {
      ({ hash: newest } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n }));
      await chain.mine();
      await new Promise(resolve => setTimeout(resolve, 250));
    }
    isMining = false;
  })();

  for (let round = 0; isMining && round < 1_000; round += 1)
    for (const { status } of await everythingOf(newest, path => api.get(path))) statuses.add(status);
  await mining;
  await service.close();

  expect([...statuses].filter(status => ![200, 404, 503].includes(status))).toEqual([]);
  expect(errors).toEqual([]);
});
