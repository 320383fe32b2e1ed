import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { encodeCursor } from '#data/backends/port/cursor.ts';
import { CHAIN_ID, servedTestChain, startTestChain, type TestChain } from '../indexer/support.ts';
import { indexIn, servedChain, startTestDataService } from '../lab/data-service.ts';
import { type Client, client } from '../support/contract-client.ts';
import { bothDatabases } from '../support/databases.ts';

const FAR = Number.MAX_SAFE_INTEGER;

let chain: TestChain;
let hash: string;

beforeAll(async () => {
  chain = await startTestChain();
  ({ hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n }));
  await chain.mine();
});
afterAll(() => chain.stop());

bothDatabases('an own index', databases => {
  async function served(): Promise<Client> {
    const backends = [indexIn(await databases.create())];
    const chains = [{ ...servedChain(servedTestChain(chain.rpcUrl), ''), backends }];
    const service = await startTestDataService([], { chains });
    onTestFinished(() => service.close());
    return client(service.url);
  }

  test('has a page at every position that its lists take', async () => {
    const api = await served();
    const [address, at] = [
      chain.accounts.signer(0).address,
      `block_number=1&transaction_index=0&index=${FAR}`,
    ];

    for (const path of [
      `/explorer/internal-transactions?${at}`,
      `/explorer/addresses/${address}/internal-transactions?${at}`,
      `/explorer/transactions/${hash}/internal-transactions?${at}`,
      `/explorer/blocks/1/internal-transactions?transaction_index=0&index=${FAR}`,
      `/explorer/transactions?block_number=1&index=${FAR}`,
      `/explorer/token-transfers?block_number=1&index=${FAR}`,
      `/explorer/blocks?block_number=${FAR}`,
    ])
      expect([path, (await api.get(path)).status]).toEqual([path, 200]);
  });

  test('refuses a cursor with a character that no text of an index has', async () => {
    const api = await served();
    const position = {
      item_type: 'token',
      name: 'te\u0000',
      address_hash: `0x${'0'.repeat(40)}`,
      prefix_length: 2,
    };
    const backend = `index-${CHAIN_ID}`;
    const cursor = encodeCursor({ backend, chainId: CHAIN_ID, position });

    const { status, body } = await api.get(`/explorer/search?q=te&cursor=${cursor}`);

    expect([status, body]).toEqual([400, { message: expect.stringMatching(/^cursor: /) }]);
  });
});
