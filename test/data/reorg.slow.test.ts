import { expect } from 'vitest';
import { startTestDataService } from '../lab/data-service.ts';
import type { Answer } from '../support/contract-client.ts';
import { testOnOwnDevnet } from '../support/own-devnet.ts';
import { type Block, everything, explorerAt, type Node, nodeOf, walk } from './values-support.ts';

const test = testOnOwnDevnet(50).extend('node', { scope: 'file' }, ({ chain }): Node => nodeOf(chain));

/** Replaces the last blocks by empty ones, and waits until the index has the new chain. */
async function reorganise({ node, url }: { node: Node; url: string }, depth: number): Promise<void> {
  await node.rpc.call('anvil_reorg', depth, []);
  const { hash, number } = await node.viem.getBlock();
  await expect
    .poll(async () => (await explorerAt(url).get(`/explorer/blocks/${number}`)).body)
    .toMatchObject({ hash });
}

/** Every operation about the last blocks of the chain, and every list. */
function questions(blocks: Awaited<ReturnType<typeof everything>>['blocks']): string[] {
  const last = blocks.slice(-20);
  return [
    '/explorer/transactions',
    '/explorer/transactions?type=coin_transfer',
    '/explorer/transactions?method=transfer',
    '/explorer/transactions?filter=pending',
    '/explorer/blocks',
    '/explorer/token-transfers',
    '/explorer/main-page/transactions',
    '/explorer/main-page/blocks',
    ...last.flatMap(({ number }) => [
      `/explorer/blocks/${number}`,
      `/explorer/blocks/${number}/transactions`,
    ]),
    ...last.flatMap(({ transactions }) =>
      transactions.flatMap(({ hash }) =>
        ['', '/token-transfers', '/logs'].map(part => `/explorer/transactions/${hash}${part}`),
      ),
    ),
  ];
}

test('after a reorg of five blocks no answer is stale, and final ones stay cached', async ({
  chain,
  node,
  service,
}) => {
  const { get, page } = explorerAt(service.url);
  const { blocks } = await everything(node);
  const asked = questions(blocks);
  for (const path of asked) await get(path);
  const settled = blocks.slice(30, 35).map(({ number }) => `/explorer/blocks/${number}`);
  const cached = await Promise.all(settled.map(path => get(path)));

  await reorganise({ node, url: service.url }, 5);
  const again = await Promise.all(settled.map(path => get(path)));
  const answers = new Map<string, Answer>();
  for (const path of asked) answers.set(path, await get(path));
  const fresh = await startTestDataService([chain]);
  const ask = explorerAt(fresh.url).get;
  const expected = new Map<string, Answer>();
  for (const path of asked) expected.set(path, await ask(path));
  await fresh.close();

  expect(asked.length).toBeGreaterThan(150);
  expect(cached.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect(again.map(({ headers }) => headers.get('x-cache'))).toEqual(['HIT', 'HIT', 'HIT', 'HIT', 'HIT']);
  expect([...answers].map(told)).toEqual([...expected].map(told));
  const orphaned = blocks.slice(-5).map(({ hash }) => hash);
  const { items } = await page<Block>('/explorer/blocks?type=reorg');
  expect(items.map(({ hash, type }) => [hash, type])).toEqual(
    orphaned.toReversed().map(hash => [hash, 'reorg']),
  );
  for (const hash of orphaned) {
    expect((await get(`/explorer/blocks/${hash}`)).body).toMatchObject({ hash, type: 'reorg' });
    expect((await get(`/explorer/blocks/${hash}/transactions`)).body).toEqual({
      items: [],
      next_page_params: null,
    });
  }
  const main = await walk<Block>(service.url, '/explorer/blocks', 'keys');
  expect(main.map(({ hash }) => hash)).toEqual(
    (await everything(node)).blocks.toReversed().map(({ hash }) => hash),
  );
});

test('a reorg deeper than the confirmations also ends final answers', async ({ node, service }) => {
  const { get } = explorerAt(service.url);
  const { blocks } = await everything(node);
  const [deep] = blocks.slice(-16);
  const [transaction] = blocks.slice(-20, -5).flatMap(one => one.transactions);
  const paths = [`/explorer/blocks/${deep?.number}`, `/explorer/transactions/${transaction?.hash}`];
  for (const path of paths) await get(path);
  const before = await Promise.all(paths.map(path => get(path)));

  await reorganise({ node, url: service.url }, 20);
  const [block, gone] = await Promise.all(paths.map(path => get(path)));

  expect(before.map(({ headers }) => headers.get('x-cache'))).toEqual(['HIT', 'HIT']);
  expect(before[0]?.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/);
  expect(block?.body).toMatchObject({
    hash: (await node.viem.getBlock({ blockNumber: deep?.number ?? 0n })).hash,
  });
  expect(block?.body).not.toMatchObject({ hash: deep?.hash });
  expect(gone?.status).toBe(404);
});

/**
 * Status and body, without cache headers. A final record is cached with its tokens as they were: their supply and
 * holders keep changing independently of the record's block.
 */
function told([path, { status, headers, body }]: readonly [string, Answer]): string {
  const text = `${path} ${status} ${JSON.stringify(body)}`;
  const isFinal = headers.get('cache-control')?.startsWith('public') === true;
  return isFinal ? text.replace(/"(holders|total_supply)":"\d+"/g, '"$1":"…"') : text;
}
