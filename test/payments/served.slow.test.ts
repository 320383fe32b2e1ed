import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#lib/clock.ts';
import { recordingClient } from '../../scripts/contract/client.ts';
import { harOf } from '../../scripts/contract/har.ts';
import { runPayments } from '../../scripts/contract/payments/run.ts';
import { isPaymentsService } from '../../scripts/contract/payments/served-by.ts';
import { NATIVE_COIN } from '../../src/payments/model/payment-chain.ts';
import { type BotApi, startBotApi } from '../lab/bot-api.ts';
import { list, record } from '../lab/json.ts';
import { startPaymentChain } from '../lab/payment-chain.ts';
import {
  LOOPBACK_ONLY,
  startTestPayments,
  type TestPaymentsService,
  unreachableChain,
} from '../lab/payments-service.ts';
import { until } from '../lab/until.ts';
import { eachDatabase, type TestDatabases } from '../support/databases.ts';

const CUSTOMER = 1;
const SHOP = 5;
const SETTINGS = '/api/v1/notifications';

const chain = await startPaymentChain({ clock: systemClock });
afterAll(chain.stop);

/** Operations that need a deposit address. No node of this chain answers, so it offers none. */
const OF_DEPOSITS = [
  'listDepositAddresses',
  'exportDepositAddresses',
  'getDepositAddress',
  'lookAtDepositAddress',
];

eachDatabase('a payments service', suite);

function suite(databases: TestDatabases): void {
  let bot: BotApi;
  let mailFolder: string;
  let service: TestPaymentsService;
  let headers: Readonly<Record<string, string>>;
  beforeAll(async () => {
    bot = await startBotApi();
    mailFolder = await mkdtemp(join(tmpdir(), 'contract-mail-'));
    const place = { tokenAddress: chain.token, recipientAddress: chain.accounts[SHOP] ?? '' };
    service = await startTestPayments(await databases.create('payments'), {
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
      outgoing: {
        ...LOOPBACK_ONLY,
        mailFolder,
        messenger: { token: bot.token, apiRoot: bot.url },
      },
      demo: { chainId: chain.chainId, ...place, tokenAddress: chain.token.toLowerCase() },
    });
    headers = { authorization: `Bearer ${service.demoKey}`, 'content-type': 'application/json' };
  });
  afterAll(async () => {
    await service.close();
    await bot[Symbol.asyncDispose]();
    await rm(mailFolder, { recursive: true });
  });

  async function ask(path: string, body?: object): Promise<Record<string, unknown>> {
    const method = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const answer = await fetch(service.url + path, { headers, ...method });
    return record(await answer.json());
  }

  /** Sends a transfer that matches no session, and waits until it is listed. */
  async function payUnmatched(amount: bigint): Promise<void> {
    await chain.pay({ from: CUSTOMER, to: chain.accounts[SHOP] ?? '', amount });
    await chain.mine(2);
    await until(
      () => ask('/api/v1/unmatched-transfers?status=open'),
      ({ data }) => list(data).some(one => record(one).amount === `${amount}`),
    );
  }

  test('passes every check of the contract runner, which cleans up after itself', async () => {
    const own = await ask('/api/v1/payment-links', { name: 'A', amount: '1000' });
    await ask('/api/v1/checkout-sessions', { payment_link_id: own.id });
    await payUnmatched(123_456n);
    const client = recordingClient({ baseUrl: service.url });

    const isPayments = await isPaymentsService(client);
    const { filled, findings } = await runPayments(client, service.demoKey ?? '');
    await client.close();

    expect(isPayments).toBe(true);
    expect(findings).toEqual([]);
    // Without a linked chat a test message is always refused, and every receipt of this chain can be read.
    expect(unseen(filled)).toEqual(['sendTestMessage', ...OF_DEPOSITS, 'listSetAsideTransactions']);
    // Two minutes of the elevated tier's limit, so a run waits at most once.
    expect(client.exchanges.filter(({ headers: own }) => 'x-ratelimit-limit' in own).length).toBeLessThan(
      2_400,
    );
    const har = JSON.stringify(harOf(client.exchanges));
    expect(har).not.toMatch(/tg_(live|test)_[0-9A-Za-z]{38}|whsec_[0-9A-Za-z+/]{8}|link_[0-9A-Za-z]{32}/);
    expect(await readdir(mailFolder)).toHaveLength(1);
    expect(list((await ask('/api/v1/payment-links')).data)).toMatchObject([{ id: own.id }]);
    const keys = list((await ask('/api/v1/api-keys?limit=100')).data).map(record);
    expect(keys.filter(({ is_active }) => is_active === true)).toHaveLength(1);
    expect(list((await ask('/api/v1/webhooks')).data)).toEqual([]);
    expect(record((await ask(SETTINGS)).data)).toMatchObject({ email_address: null, email_enabled: false });
  }, 180_000);

  test('keeps its notification settings and linked chat after a run', async () => {
    const link = record((await ask(`${SETTINGS}/messenger/link`, {})).data).link_url;
    bot.write(42, `/start ${String(link).split('?start=')[1]}`, 'ada_l');
    await until(
      () => ask(SETTINGS),
      ({ data }) => record(data).messenger_chat_id === '42',
    );
    const wanted = {
      messenger_enabled: true,
      email_address: 'ada@books.example',
      email_enabled: true,
      enabled_events: ['payment.failed'],
    };
    await fetch(service.url + SETTINGS, { headers, method: 'PATCH', body: JSON.stringify(wanted) });
    await payUnmatched(654_321n);
    const client = recordingClient({ baseUrl: service.url });

    const { filled, findings } = await runPayments(client, service.demoKey ?? '');
    await client.close();

    expect(findings).toEqual([]);
    expect(unseen(filled)).toEqual(['deleteMessengerLink', ...OF_DEPOSITS, 'listSetAsideTransactions']);
    expect((await ask(SETTINGS)).data).toMatchObject({ ...wanted, messenger_chat_id: '42' });
    expect(bot.sent().join('\n')).toContain('42: [Test] Test notification');
  }, 180_000);
}

/** Operations that answered only empty lists or refusals. */
function unseen(filled: ReadonlyMap<string, number>): string[] {
  return [...filled].filter(([, count]) => count === 0).map(([id]) => id);
}
