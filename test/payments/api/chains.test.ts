import { expect } from 'vitest';
import { setAsideBlockStore } from '#payments/store/set-aside-block-store.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { LIVE_CHAIN, TEST_CHAIN, TOKEN } from '../../support/payments-api.ts';

const PATH = '/api/v1/chains';
const tokensPaidBy = (...methods: readonly string[]) => [
  { address: `0x${'0'.repeat(40)}`, symbol: 'ETH', decimals: 18, payment_methods: methods },
  { address: TOKEN, symbol: 'USDC', decimals: 6, payment_methods: methods },
];

eachPaymentsApi('chains on which payments are taken', test => {
  test('are those of the key’s mode, with their tokens, payment methods and the explorer of their transactions', async ({
    api,
    merchant,
  }) => {
    await api.looked();
    const live = await merchant.withKey({ mode: 'live', permission: 'read' });

    const shown = await Promise.all([merchant.get(PATH), live.get(PATH)]);

    expect(shown.map(({ body }) => body)).toMatchObject([
      {
        data: [
          {
            id: TEST_CHAIN,
            name: 'Local',
            mode: 'test',
            required_confirmations: 2,
            explorer_url: 'https://explorer.example/tx/{tx_hash}',
            tokens: tokensPaidBy('exact_amount', 'deposit_address'),
          },
        ],
      },
      {
        data: [
          {
            id: LIVE_CHAIN,
            name: 'Base',
            mode: 'live',
            explorer_url: null,
            tokens: tokensPaidBy('exact_amount'),
          },
        ],
      },
    ]);
  });

  test('say when payments on them are detected late', async ({ api, merchant }) => {
    await api.looked();
    const before = await merchant.get(PATH);
    api.clock.advance(90_000);
    const after = await merchant.get(PATH);

    expect(before.body).toMatchObject({ data: [{ is_late: false }] });
    expect(after.body).toMatchObject({ data: [{ is_late: true }] });
  });

  test('count their blocks that are set aside and not read completely', async ({ api, merchant }) => {
    await api.looked();
    const store = setAsideBlockStore(api.db);
    const now = api.clock.now();
    const block = { number: 7, hash: `0x${'b7'.repeat(32)}`, time: now, reason: 'too_large' } as const;
    const before = await merchant.get(PATH);
    const tokens = { ...block, part: 'tokens' } as const;
    await store.add(TEST_CHAIN, [tokens, { ...block, part: 'coins' }, { ...tokens, number: 8 }], now);
    const during = await merchant.get(PATH);
    const progress = { nextTransaction: 1, unread: [], attempts: 1, nextAttemptAt: now, isRead: true };
    for (const one of await store.all(TEST_CHAIN)) await store.progress(one, { ...one, ...progress }, now);
    const after = await merchant.get(PATH);

    expect(before.body).toMatchObject({ data: [{ set_aside_blocks: 0 }] });
    expect(during.body).toMatchObject({ data: [{ set_aside_blocks: 2 }] });
    expect(after.body).toMatchObject({ data: [{ set_aside_blocks: 0 }] });
  });
});
