import { type Hash, numberToHex } from 'viem';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { startNodeProxy } from '../indexer/node-proxy.ts';
import { CHAIN_ID, startTestChain, type TestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { until } from '../lab/until.ts';
import { type Answer, client } from '../support/contract-client.ts';
import { eachDatabase } from '../support/databases.ts';

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
const NOWHERE = `0x${'22'.repeat(32)}` as const;

let chain: TestChain;

beforeAll(async () => {
  chain = await startTestChain();
  await chain.mine();
});
afterAll(() => chain.stop());

/** A data service over an index whose node withholds receipts of new blocks while it `isStuck`. */
async function ground(
  database: DatabaseOptions,
  { isStuck = false, isFilled = true, orphan = NOWHERE } = {},
) {
  const node = { isStuck, isSilent: false };
  let skippedMs = 0;
  const ended = Promise.withResolvers<null>();
  const proxy = await startNodeProxy(chain.rpcUrl, {
    async change(method, result) {
      if (node.isSilent && /^eth_getBlockBy/.test(method)) return ended.promise;
      if (node.isStuck && /^eth_get(BlockReceipts|TransactionReceipt)$/.test(method)) return null;
      return method === 'eth_getBlockByHash' && result === null ? orphaned(orphan) : result;
    },
  });
  const service = await startTestDataService(
    [],
    {
      chains: [
        {
          id: CHAIN_ID,
          name: 'Chain',
          native: { symbol: 'ETH', decimals: 18 },
          confirmations: 12,
          rpcUrls: [proxy.rpcUrl],
          abis: [],
          backends: [{ kind: 'index', database, fromBlock: 0, pollMs: 50 }],
        },
      ],
      clock: { ...systemClock, now: () => systemClock.now() + skippedMs },
      log: createLogger({ level: 'silent' }),
      rateLimitPerMinute: 1e9,
    },
    isFilled ? undefined : async () => undefined,
  );
  onTestFinished(async () => {
    ended.resolve(null);
    await service.close();
    await proxy.stop();
  });
  const api = client(service.url);
  const get = (path: string) => api.get(`${path}${path.includes('?') ? '&' : '?'}chain_id=${CHAIN_ID}`);
  const skip = (ms: number) => {
    skippedMs += ms;
  };
  return { node, get, skip };
}

/** A block that only the node knows: another one has replaced it. */
function orphaned(hash: Hash) {
  return hash === NOWHERE ? null : { hash, number: numberToHex(1), transactions: [] };
}

/** A transaction in the first of some new blocks. */
async function mineSome(count: number) {
  const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });
  for (let block = 0; block < count; block += 1) await chain.mine();
  const newest = await chain.client.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
  return { transaction: hash, newest: { number: Number(newest?.number), hash: newest?.hash } };
}

function facts({ status, headers }: Answer) {
  return [status, headers.get('retry-after')];
}

eachDatabase('an index that is behind its node', databases => {
  test.each([1, 4])('by %d blocks answers a 503 with Retry-After for what is in them', async count => {
    const { node, get } = await ground(await databases.create());
    node.isStuck = true;
    const { transaction, newest } = await mineSome(count);

    const paths = [
      ...PARTS.map(part => `/explorer/transactions/${transaction}${part}`),
      ...[newest.number, newest.hash].flatMap(id => BLOCK_PARTS.map(part => `/explorer/blocks/${id}${part}`)),
    ];
    const answers = await Promise.all(paths.map(get));
    node.isStuck = false;
    const later = await until(
      () => Promise.all(paths.map(get)),
      all => all.every(({ status }) => status === 200),
    );

    expect(answers.map(facts)).toEqual(paths.map(() => [503, '1']));
    expect(answers[0]?.body).toMatchObject({
      message: expect.stringContaining(
        `transaction ${transaction} is in a block that the index has not read`,
      ),
    });
    expect(answers.at(-1)?.body).toMatchObject({
      message: expect.stringContaining(`the index has not read block ${newest.hash} yet`),
    });
    expect(later[0]?.body).toMatchObject({ hash: transaction });
  });

  test('answers a 404 for what the node lacks too', async () => {
    const orphan = `0x${'33'.repeat(32)}` as const;
    const { node, get } = await ground(await databases.create(), { orphan });
    node.isStuck = true;
    await mineSome(3);

    const paths = [`transactions/${NOWHERE}`, 'blocks/99999999', `blocks/${orphan}`];
    // Repeated, because on a busy machine the node may need more than its two seconds.
    const answers = await until(
      () => Promise.all(paths.map(path => get(`/explorer/${path}`))),
      all => all.every(({ status }) => status === 404),
    );

    expect(answers.map(facts)).toEqual(answers.map(() => [404, null]));
  });

  test('uses the last known head while the node does not answer', async () => {
    const { node, get } = await ground(await databases.create());
    node.isStuck = true;
    const { newest } = await mineSome(3);
    await until(
      () => get('/chains'),
      ({ body }) => JSON.stringify(body).includes('"lag":3,'),
    );
    node.isSilent = true;

    const answers = await Promise.all([get(`/explorer/blocks/${newest.number}`), get('/explorer/blocks/0')]);

    expect(answers.map(facts)).toEqual([
      [503, '1'],
      [200, null],
    ]);
  });

  test('answers a 502 when the node has been silent for ten seconds', async () => {
    const { node, get, skip } = await ground(await databases.create());
    const { newest } = await mineSome(1);
    await until(
      () => get(`/explorer/blocks/${newest.number}`),
      ({ status }) => status === 200,
    );
    node.isSilent = true;
    // Repeated, because the node's last answer may still be on its way.
    const answer = await until(
      () => {
        skip(11_000);
        return get(`/explorer/blocks/${newest.number + 1}`);
      },
      ({ status }) => status === 502,
    );

    expect(answer.status).toBe(502);
  });

  test('and is still being filled answers a 503 to every request', async () => {
    const { transaction, newest } = await mineSome(2);
    const { node, get } = await ground(await databases.create(), { isStuck: true, isFilled: false });

    const paths = [
      '/explorer/blocks',
      '/explorer/transactions',
      `/explorer/transactions/${transaction}`,
      `/explorer/transactions/${NOWHERE}`,
      `/explorer/blocks/${newest.number}`,
      `/explorer/addresses/${chain.accounts.signer(0).address}/transactions`,
      '/insights/v1/blocks',
      '/insights/v1/transactions',
    ];
    await until(
      () => get('/explorer/blocks'),
      ({ status }) => status === 503,
    );
    const answers = await Promise.all(paths.map(get));
    node.isStuck = false;
    const later = await until(
      () => get('/explorer/blocks'),
      ({ status }) => status === 200,
    );

    expect(answers.map(facts)).toEqual(paths.map(() => [503, '1']));
    expect(answers[0]?.body).toEqual({ message: expect.stringContaining('the index is not complete yet') });
    expect(answers.at(-1)?.body).toEqual({ error: expect.stringContaining('the index is not complete yet') });
    expect(later.status).toBe(200);
  });
});
