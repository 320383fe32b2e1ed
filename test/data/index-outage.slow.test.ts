import { expect, onTestFinished, test } from 'vitest';
import { CHAIN_ID, log, startTestChain } from '../indexer/support.ts';
import { startTestDataService } from '../lab/data-service.ts';
import { startOwnPostgres } from '../lab/own-postgres.ts';
import { until } from '../lab/until.ts';
import { client } from '../support/contract-client.ts';

test('while PostgreSQL is out of reach the process stays ready, sends cached answers and else a Retry-After', async () => {
  await using postgres = await startOwnPostgres();
  const chain = await startTestChain();
  onTestFinished(() => chain.stop());
  await chain.mine();
  await using service = await startTestDataService([], {
    chains: [
      {
        id: CHAIN_ID,
        name: 'Chain',
        native: { symbol: 'ETH', decimals: 18 },
        confirmations: 12,
        rpcUrls: [chain.rpcUrl],
        abis: [],
        backends: [
          { kind: 'index', database: { kind: 'postgres', url: postgres.url }, fromBlock: 0, pollMs: 50 },
        ],
      },
    ],
    log,
  });
  const api = client(service.url);
  const { hash } = await chain.send(0, { to: chain.accounts.signer(1).address, value: 1n });

  const cached = `/explorer/blocks/0/transactions?chain_id=${CHAIN_ID}`;
  await api.get(cached);
  const ready = async () => (await fetch(`${service.url}/readyz`)).status;
  const before = await ready();

  await postgres.stop();
  await chain.mine();
  const during = await ready();
  const again = await api.get(cached);
  const explorer = await api.get(`/explorer/blocks/0?chain_id=${CHAIN_ID}`);
  const insights = await api.get(`/insights/v1/blocks?chain_id=${CHAIN_ID}`);
  const tokens = await api.get(`/insights/v1/tokens/lookup?symbol=COIN&chain_id=${CHAIN_ID}`);
  await postgres.start();
  const found = await until(
    () => api.get(`/explorer/transactions/${hash}?chain_id=${CHAIN_ID}`),
    ({ status }) => status === 200,
  );

  expect([before, during]).toEqual([200, 200]);
  expect([again.status, again.headers.get('x-cache')]).toEqual([200, 'HIT']);
  for (const { status, headers } of [explorer, insights, tokens])
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
  expect(explorer.body).toEqual({ message: expect.stringContaining('its database cannot be reached now') });
  for (const { body } of [insights, tokens])
    expect(body).toEqual({ error: expect.stringContaining('its database cannot be reached now') });
  expect(found.body).toMatchObject({ hash, block_number: 2 });
});
