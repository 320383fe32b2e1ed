import { afterAll, beforeAll, expect, test } from 'vitest';
import { recordingClient } from '../../scripts/contract/client.ts';
import { harOf } from '../../scripts/contract/har.ts';
import { runPayments } from '../../scripts/contract/payments/run.ts';
import { isPaymentsService } from '../../scripts/contract/payments/served-by.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { eachDatabase } from '../support/databases.ts';
import { list, record } from '../support/json.ts';
import { startPaymentChain, type TestPaymentChain } from '../support/payment-chain.ts';
import {
  startTestPayments,
  type TestPaymentsService,
  unreachableChain,
} from '../support/payments-service.ts';
import { until } from '../support/until.ts';

const CUSTOMER = 1;
const SHOP = 5;

eachDatabase('a payments service', databases => {
  let chain: TestPaymentChain;
  let service: TestPaymentsService;
  let headers: Readonly<Record<string, string>>;
  beforeAll(async () => {
    chain = await startPaymentChain();
    const place = { tokenAddress: chain.token, recipientAddress: chain.accounts[SHOP] ?? '' };
    service = await startTestPayments(await databases.create(), {
      chains: [
        {
          ...unreachableChain,
          tokens: [
            { address: NATIVE_COIN, symbol: 'ETH', decimals: 18 },
            { address: chain.token.toLowerCase(), symbol: 'USDS', decimals: 6 },
          ],
          confirmations: 1,
          rpcUrls: [chain.rpcUrl],
        },
      ],
      demo: { chainId: chain.chainId, ...place, tokenAddress: chain.token.toLowerCase() },
    });
    headers = { authorization: `Bearer ${service.demoKey}`, 'content-type': 'application/json' };
  });
  afterAll(async () => {
    await service.close();
    await chain.stop();
  });

  async function ask(path: string, body?: object): Promise<Record<string, unknown>> {
    const method = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(service.url + path, { headers, ...method });
    return record(await answer.json());
  }

  test('keeps its contract in everything that the runner tries, and is tidied up', async () => {
    const own = await ask('/api/v1/payment-links', { name: 'A', amount: '1000' });
    await ask('/api/v1/checkout-sessions', { payment_link_id: own.id });
    await chain.pay({ from: CUSTOMER, to: chain.accounts[SHOP] ?? '', amount: 123_456n });
    await chain.mine(2);
    await until(
      () => ask('/api/v1/unmatched-transfers'),
      ({ data }) => list(data).length > 0,
    );
    const client = recordingClient({ baseUrl: service.url });

    const isPayments = await isPaymentsService(client);
    const { filled, findings } = await runPayments(client, service.demoKey ?? '');
    await client.close();

    expect(isPayments).toBe(true);
    expect(findings).toEqual([]);
    expect([...filled].filter(([, count]) => count === 0)).toEqual([]);
    // A minute of the elevated tier, so that nobody has to wait.
    expect(client.exchanges.filter(({ headers: own }) => 'x-ratelimit-limit' in own).length).toBeLessThan(
      1_200,
    );
    expect(JSON.stringify(harOf(client.exchanges))).not.toMatch(/tg_(live|test)_[0-9A-Za-z]{38}/);
    expect(list((await ask('/api/v1/payment-links')).data)).toMatchObject([{ id: own.id }]);
    const keys = list((await ask('/api/v1/api-keys?limit=100')).data).map(record);
    expect(keys.filter(({ is_active }) => is_active === true)).toHaveLength(1);
  }, 60_000);
});
