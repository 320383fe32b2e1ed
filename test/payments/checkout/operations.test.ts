import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { NATIVE_COIN } from '#payments/model/payment-chain.ts';
import type { PaymentLink } from '#payments/model/payment-link.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { transactionStore } from '#payments/store/transaction-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  aPayment,
  errorOf,
  LIFETIME_MS,
  type Merchant,
  masked,
  type PaymentsApi,
  RECIPIENT,
  someHash,
  startPaymentsApi,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const NO_CONTACT = { contact_email: null, site_url: null, terms_url: null };

const MISSING = 'cs_000000000000000000000000';
const pathOf = (id: string) => `/api/v1/pay/sessions/${id}`;

eachDatabase('the payer’s operations', databases => {
  let api: PaymentsApi;
  let merchant: Merchant;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
    merchant = await api.merchant();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  async function linked(changes: Partial<PaymentLink> = {}): Promise<PaymentLink> {
    // A recipient of its own, so that no other test takes the exact amount.
    const recipientAddress = `0x${someHash().slice(-40)}`;
    const link = aLink(merchant.owner, { recipientAddress, ...changes });
    await linkStore(api.db).insert(link);
    return link;
  }
  const start = (code: string, body?: unknown) => api.payer.post(`/api/v1/pay/links/${code}/sessions`, body);
  async function started(changes: Partial<PaymentLink> = {}, body?: unknown) {
    const link = await linked(changes);
    const answer = await start(link.shortCode, body);
    expect(answer.status).toBe(201);
    const checkout = record(answer.body);
    return { id: text(checkout.id), message: text(checkout.wallet_message), checkout, link };
  }
  type Started = Awaited<ReturnType<typeof started>>;

  const wallet = () => privateKeyToAccount(generatePrivateKey());
  type Wallet = ReturnType<typeof wallet>;
  async function signed({ message }: Started, by: Wallet) {
    const { address } = by;
    const signature = await by.signMessage({ message: message.replace('{address}', address) });
    return { address, signature };
  }
  const bind = (id: string, body: unknown, headers = {}) =>
    api.payer.post(`${pathOf(id)}/wallet`, body, headers);
  const claim = (id: string, tx_hash: string) => api.payer.post(`${pathOf(id)}/claims`, { tx_hash });
  const stateOf = async (id: string) => (await api.payer.get(`${pathOf(id)}/status`)).body;
  const bound = async (changes: Partial<PaymentLink> = {}, by = wallet()) => {
    const session = await started(changes);
    expect((await bind(session.id, await signed(session, by))).status).toBe(200);
    return { ...session, by };
  };
  const seen = ({ id, link }: Started, changes: object = {}) =>
    api.settle(settled =>
      settled.recordTransfer(
        { id },
        aPayment({ blockTime: api.clock.now(), recipient: link.recipientAddress, ...changes }),
        { matchedBy: 'wallet', confirmations: 1 },
      ),
    );
  const expire = (id: string) => merchant.post(`/api/v1/checkout-sessions/${id}/expire`);

  describe('starting', () => {
    test('opens a session of a link with what the payer chose', async () => {
      const { checkout, id, link } = await started(
        {
          amount: null,
          description: 'Two of them',
          shippingOptions: [{ id: 'post', name: 'Post', amount: '500', estimated_days: 3 }],
          returnUrl: 'https://shop.example/thanks?s={SESSION_ID}',
          branding: { business_name: 'Corner Books', logo_url: null },
        },
        { amount: '2000', shipping_option_id: 'post' },
      );

      expect(checkout).toMatchObject({
        object: 'checkout',
        status: 'active',
        payment_status: 'awaiting_payment',
        merchant: { name: 'Corner Books', logo_url: null, ...NO_CONTACT },
        name: link.name,
        description: 'Two of them',
        button_text: 'Pay',
        subtotal: '2000',
        amount: '2500',
        shipping_option: { id: 'post', amount: '500' },
        token: { address: TOKEN, symbol: 'USDC', decimals: 6 },
        chain: { id: TEST_CHAIN, name: 'Local', is_testnet: true, explorer_url: null },
        recipient_address: link.recipientAddress,
        payment_uri: `ethereum:${TOKEN}@${TEST_CHAIN}/transfer?address=${link.recipientAddress}&uint256=${record(checkout).amount_due}`,
        wallet_only: false,
        return_url: null,
        expires_at: new Date(api.clock.now() + LIFETIME_MS).toISOString(),
      });
      expect((await api.payer.get(pathOf(id))).body).toEqual(checkout);
    });

    test('shows merchant-only fields to the merchant and none of them to the payer', async () => {
      const form = { id: 'note', type: 'text', label: 'Note', required: true, placeholder: null } as const;
      const { id, checkout } = await started(
        {
          formSchema: { fields: [{ ...form, options: [] }] },
          collectShippingAddress: true,
          metadata: { secret: 'between us 1' },
        },
        {
          clientReferenceId: 'order-2',
          customerEmail: 'us3@example.com',
          customerName: 'between us 4',
          form_data: { note: 'between us 5' },
          shipping_address: { line1: 'between us 6', city: 'b', zip: 'c' },
        },
      );

      const kept = (await merchant.get(`/api/v1/checkout-sessions/${id}`)).body;
      const told = JSON.stringify([checkout, (await api.payer.get(pathOf(id))).body, await stateOf(id)]);

      expect(kept).toMatchObject({
        metadata: { secret: 'between us 1' },
        clientReferenceId: 'order-2',
        customerEmail: 'us3@example.com',
        customerName: 'between us 4',
        form_data: { note: 'between us 5' },
        shipping_address: { line1: 'between us 6' },
      });
      expect(told).not.toMatch(/between.us|us3@/);
      expect(told).not.toContain(merchant.owner.organizationId);
    });

    test('refuses metadata from a payer', async () => {
      const { shortCode } = await linked();

      expect(errorOf(await start(shortCode, { metadata: { secret: 'forged' } }))).toBe(
        '400 invalid_field_value metadata',
      );
    });

    test('requires the fields the link requires', async () => {
      const { shortCode } = await linked({ amount: null, collectShippingAddress: true });

      expect(errorOf(await start(shortCode))).toBe('400 missing_required_field amount');
      expect(errorOf(await start(shortCode, { amount: '5' }))).toBe(
        '400 missing_required_field shipping_address',
      );
      expect(errorOf(await start(shortCode, { amount: 5 }))).toBe('400 invalid_field_value amount');
    });

    test('refuses a chosen price that is the exact amount of an open session, until that has ended', async () => {
      const { recipientAddress } = await linked();
      const owed = await started({ recipientAddress });
      const tips = await linked({ recipientAddress, amount: null });
      const seenInThePool = { amount: text(owed.checkout.amount_due) };

      expect(errorOf(await start(tips.shortCode, seenInThePool))).toBe('400 invalid_field_value amount');
      expect((await start(tips.shortCode, { amount: `${BigInt(seenInThePool.amount) + 1n}` })).status).toBe(
        201,
      );
      await expire(owed.id);
      expect((await start(tips.shortCode, seenInThePool)).status).toBe(201);
    });

    test('is refused while the link is unavailable, and not found without a link', async () => {
      const { shortCode } = await linked({ maxUses: 1, currentUses: 1 });

      expect(errorOf(await start(shortCode))).toBe('400 invalid_status_transition');
      expect(errorOf(await start('nowhere'))).toBe('404 resource_not_found');
    });

    test('by many payers at once gives each a different exact amount', async () => {
      const { shortCode } = await linked();

      const answers = await Promise.all(Array.from({ length: 8 }, () => start(shortCode)));

      expect(new Set(answers.map(({ body }) => record(body).amount_due)).size).toBe(8);
    });
  });

  describe('looking', () => {
    test('gives return_url once the session is completed, and shows the transaction', async () => {
      const session = await started({ returnUrl: 'https://shop.example/thanks?s={SESSION_ID}' });
      const { id, txHash } = await seen(session);
      expect(await stateOf(session.id)).toMatchObject({ payment_status: 'confirming', return_url: null });

      await api.settle(settled => settled.complete(id));

      const return_url = `https://shop.example/thanks?s=${session.id}`;
      expect(await stateOf(session.id)).toMatchObject({
        object: 'checkout_state',
        status: 'completed',
        payment_status: 'paid',
        amount_received: '2500000',
        tx_hash: txHash,
        failure_reason: null,
        late: false,
        return_url,
        completed_at: new Date(api.clock.now()).toISOString(),
      });
      expect((await api.payer.get(pathOf(session.id))).body).toMatchObject({
        return_url,
        chain: { explorer_url: `https://explorer.example/tx/${txHash}` },
      });
    });

    test('gives the merchant’s cancel_url with the session’s id', async () => {
      const { body } = await merchant.post('/api/v1/checkout-sessions', {
        token_address: TOKEN,
        chain_id: TEST_CHAIN,
        recipient_address: RECIPIENT,
        amount: '5000',
        cancel_url: 'https://shop.example/cart?s={SESSION_ID}',
      });
      const id = text(record(body).id);

      expect((await api.payer.get(pathOf(id))).body).toMatchObject({
        name: null,
        merchant: { name: merchant.name },
        cancel_url: `https://shop.example/cart?s=${id}`,
      });
    });

    test('is answered 304 while nothing changes', async () => {
      const session = await started();
      const path = `${pathOf(session.id)}/status`;
      const tag = async () => (await api.payer.get(path)).headers.get('etag') ?? '';
      const before = await tag();

      expect((await api.payer.get(path, { 'If-None-Match': before })).status).toBe(304);

      await seen(session);
      expect((await api.payer.get(path, { 'If-None-Match': before })).status).toBe(200);
    });

    test('at a session whose chain or token was removed from the configuration is refused', async () => {
      const [ofChain, ofToken] = [await started(), await started()];
      await api.db.raw('update checkout_sessions set chain_id = 424242 where id = ?', [ofChain.id]);
      await api.db.raw('update checkout_sessions set token_address = ? where id = ?', [
        `0x${'ab'.repeat(20)}`,
        ofToken.id,
      ]);

      for (const session of [ofChain, ofToken]) {
        const shown = await api.payer.get(pathOf(session.id));
        const binding = await bind(session.id, await signed(session, wallet()));

        expect(errorOf(shown)).toBe('400 invalid_status_transition');
        expect(errorOf(binding)).toBe('400 invalid_status_transition');
        expect(await stateOf(session.id)).toMatchObject({ status: 'active' });
      }
    });

    test('at a malformed id is not found, like a missing one', async () => {
      const get = async (id: string) => masked(await api.payer.get(pathOf(id)), id);
      // The headers differ: only well-formed ids are counted by the rate limit.
      const state = async (id: string) => {
        const { status, body } = await api.payer.get(`${pathOf(id)}/status`);
        return masked({ status, body, headers: new Headers() }, id);
      };

      expect(errorOf(await api.payer.get(pathOf(MISSING)))).toBe('404 resource_not_found');
      expect(await get('1')).toEqual(await get(MISSING));
      expect(await state('1')).toEqual(await state(MISSING));
    });
  });

  describe('binding a wallet', () => {
    test('accepts a signature of the session’s message, with the address in any letter case', async () => {
      const session = await started();
      const by = wallet();

      const answer = await bind(session.id, await signed(session, by));

      expect(session.message).toContain(session.id);
      expect([answer.status, answer.body]).toEqual([200, await stateOf(session.id)]);
      expect(answer.body).toMatchObject({ payer_address: by.address.toLowerCase(), status: 'active' });
    });

    test('refuses a signature of another wallet, session or text, and a malformed one', async () => {
      const [session, another] = [await started(), await started()];
      const by = wallet();
      const { address, signature } = await signed(session, by);
      const raw = await by.signMessage({ message: session.message });
      const refusals = [
        await bind(session.id, { address: wallet().address, signature }),
        await bind(another.id, { address, signature }),
        await bind(session.id, { address, signature: raw }),
        await bind(session.id, { address, signature: '0x1234' }),
      ];

      expect(refusals.map(errorOf)).toEqual(Array(4).fill('400 invalid_field_value signature'));
      expect(await stateOf(session.id)).toMatchObject({ payer_address: null });
    });

    test('says that the native coin cannot be paid from a contract', async () => {
      const session = await started({ tokenAddress: NATIVE_COIN });

      const refused = await bind(session.id, { address: RECIPIENT, signature: '0x1234' });

      expect(errorOf(refused)).toBe('400 invalid_field_value signature');
      expect(JSON.stringify(refused.body)).toContain('A contract cannot pay in the');
      expect((await bind(session.id, await signed(session, wallet()))).status).toBe(200);
    });

    test('with a newer signature replaces the wallet until a transfer is seen', async () => {
      const session = await bound();
      const [second, third] = [wallet(), wallet()];

      expect((await bind(session.id, await signed(session, second))).body).toMatchObject({
        payer_address: second.address.toLowerCase(),
      });
      await seen(session, { sender: second.address.toLowerCase() });

      expect(errorOf(await bind(session.id, await signed(session, third)))).toBe(
        '400 invalid_status_transition',
      );
      expect((await bind(session.id, await signed(session, second))).status).toBe(200);
    });

    test('to an ended session is refused, but the same signature again answers the state', async () => {
      const session = await bound();
      await expire(session.id);

      expect((await bind(session.id, await signed(session, session.by))).body).toMatchObject({
        status: 'expired',
      });
      expect(errorOf(await bind(session.id, await signed(session, wallet())))).toBe(
        '400 invalid_status_transition',
      );
    });

    test('checks the form of the request and the existence of the session', async () => {
      const session = await started();
      const good = await signed(session, wallet());

      expect([
        errorOf(await bind(session.id, { address: good.address })),
        errorOf(await bind(session.id, { ...good, address: '0x12' })),
        errorOf(await bind(session.id, { ...good, signature: '0x123' })),
        errorOf(await bind(MISSING, good)),
      ]).toEqual([
        '400 missing_required_field signature',
        '400 invalid_address address',
        '400 invalid_field_value signature',
        '404 resource_not_found',
      ]);
    });
  });

  describe('claiming', () => {
    const rows = (id: string) => transactionStore(api.db).ofSession(id);

    test('records the hash in lower case, once', async () => {
      const { id } = await bound();
      const hash = someHash();

      const first = await claim(id, `0x${hash.slice(2).toUpperCase()}`);
      const second = await claim(id, hash);

      expect(first.body).toMatchObject({ tx_hash: hash, payment_status: 'awaiting_payment' });
      expect(second.body).toEqual(first.body);
      expect(await rows(id)).toMatchObject([{ txHash: hash, status: 'pending', sender: null }]);
    });

    test('needs a bound wallet', async () => {
      const { id } = await started();

      expect(errorOf(await claim(id, someHash()))).toBe('400 invalid_status_transition');
      expect(await rows(id)).toEqual([]);
    });

    test('needs no wallet for a session with a deposit address', async () => {
      const { id } = await started({ paymentMethod: 'deposit_address' });
      const hash = someHash();

      const { body } = await claim(id, hash);

      expect(body).toMatchObject({ tx_hash: hash, outcome: 'waiting' });
      expect(await rows(id)).toMatchObject([
        { txHash: hash, status: 'pending', matchedBy: 'deposit_address' },
      ]);
    });

    test('for an ended session is refused, but the same hash again answers the state', async () => {
      const { id } = await bound();
      const hash = someHash();
      await claim(id, hash);
      await expire(id);

      expect((await claim(id, hash)).body).toMatchObject({ status: 'expired', tx_hash: hash });
      expect(errorOf(await claim(id, someHash()))).toBe('400 invalid_status_transition');
    });

    test('is limited to ten pending claims, and a failed one makes room', async () => {
      const { id } = await bound();
      const [first = '', ...hashes] = Array.from({ length: 10 }, someHash);
      await claim(id, first);
      for (const hash of hashes) await api.settle(settled => settled.claim({ id }, hash));

      expect(errorOf(await claim(id, someHash()))).toBe('400 invalid_status_transition');
      expect((await claim(id, first)).status).toBe(200);

      const [oldest] = await rows(id);
      await api.settle(settled => settled.fail(oldest?.id ?? '', 'not_found'));
      expect((await claim(id, someHash())).status).toBe(200);
    });

    test('a failed hash again makes it pending again', async () => {
      const { id } = await bound();
      const hash = someHash();
      await claim(id, hash);
      const [given] = await rows(id);
      await api.settle(settled => settled.fail(given?.id ?? '', 'not_found'));

      expect((await claim(id, hash)).status).toBe(200);
      expect(await rows(id)).toMatchObject([{ id: given?.id, status: 'pending', failureReason: null }]);
    });

    test('checks the form of the hash and the existence of the session', async () => {
      const { id } = await bound();

      expect(errorOf(await claim(id, '0x12'))).toBe('400 invalid_field_value tx_hash');
      expect(errorOf(await claim(MISSING, someHash()))).toBe('404 resource_not_found');
    });
  });
});
