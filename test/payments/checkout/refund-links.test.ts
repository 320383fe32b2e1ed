import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { notifiers } from '#payments/notifications/notifier.ts';
import { refundAddressStore } from '#payments/refunds/refund-address-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  aPayment,
  errorOf,
  type Merchant,
  type PaymentsApi,
  PLACE,
  startPaymentsApi,
} from '../../support/payments-api.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts';

const FIRST = `0x${'d1'.repeat(20)}`;
const SECOND = `0x${'d2'.repeat(20)}`;
const EMAIL = 'ada@example.com';
const never = new AbortController().signal;

eachDatabase('a mailed link to state the address of a refund', databases => {
  let receiver: SmtpReceiver;
  let api: PaymentsApi;
  let merchant: Merchant;
  beforeAll(async () => {
    receiver = await startSmtpReceiver();
    const mail = { smtp: receiver.url, from: 'pay@shop.example' };
    api = await startPaymentsApi(await databases.create('payments'), { mail });
    merchant = await api.merchant();
  });
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  async function unpaid(customer: object = { customerEmail: EMAIL }) {
    const answer = await merchant.post('/api/v1/checkout-sessions', {
      ...PLACE,
      amount: '1000',
      ...customer,
    });
    return text(record(answer.body).id);
  }

  /** A paid checkout, and what its payer does. */
  async function paid(customer?: object) {
    const id = await unpaid(customer);
    const wallet = privateKeyToAccount(generatePrivateKey());
    await api.settle(async settle => {
      const sender = wallet.address.toLowerCase();
      const payment = aPayment({ amount: 1_000n, blockTime: api.clock.now(), sender });
      const seen = { matchedBy: 'amount', confirmations: 1 } as const;
      await settle.complete((await settle.recordTransfer({ id }, payment, seen)).id);
    });
    const path = `/api/v1/pay/sessions/${id}/refund-address`;
    return {
      id,
      path,
      ask: () => api.payer.post(`${path}/link`),
      state: (statement: object) => api.payer.post(path, statement),
      async sign(address: string) {
        const asked = await api.payer.get(`${path}?address=${address}&wallet_address=${wallet.address}`);
        const message = text(record(asked.body).message);
        const signature = await wallet.signMessage({ message });
        return { address, wallet_address: wallet.address, signature };
      },
    };
  }

  /** Sends what is due; returns the new mails. */
  async function mailed() {
    const before = receiver.mails.length;
    const [mails] = notifiers({
      db: api.db,
      seals: api.seals,
      clock: api.clock,
      chains: paymentChains([]),
      mailer: api.outgoing.mailer,
      messenger: undefined,
      log: createLogger({ level: 'silent' }),
    });
    while (((await mails?.runOnce(never)) ?? 0) > 0) {}
    return receiver.mails.slice(before);
  }

  async function tokenOf(asking: Promise<unknown>): Promise<string> {
    await asking;
    const [mail] = await mailed();
    const [, token] = /#refund=([0-9A-Za-z]{32})\b/.exec(mail?.parts['text/plain'] ?? '') ?? [];
    return text(token);
  }

  test('goes to the address that was left before paying, and proves what is stated through it', async () => {
    const { id, path, ask, state } = await paid();

    const asked = await ask();
    const mails = await mailed();
    const body = mails[0]?.parts['text/plain'] ?? '';
    const [, token] = /#refund=([0-9A-Za-z]{32})\b/.exec(body) ?? [];
    const stated = await state({ address: FIRST, token });
    const unproved = await state({ address: SECOND });
    const options = record((await merchant.get(`/api/v1/refunds/options?session_id=${id}`)).body);
    const refund = await merchant.post('/api/v1/refunds', { session_id: id });

    expect(asked.body).toEqual({
      object: 'refund_link',
      session_id: id,
      expires_at: new Date(api.clock.now() + DAY_MS).toISOString(),
    });
    expect(mails.map(({ to }) => to)).toEqual([[EMAIL]]);
    expect(body).toContain(`https://pay.example.com/pay/s/${id}#refund=`);
    expect(body).toContain(`Merchant: ${merchant.name}`);
    expect(stated.body).toMatchObject({
      address: FIRST,
      proved: true,
      proof: 'email',
      previous_address: null,
    });
    expect(errorOf(unproved)).toBe('400 invalid_status_transition');
    expect((await api.payer.get(path)).body).toEqual(stated.body);
    expect(record(list(options.destinations)[0])).toMatchObject({
      address: FIRST,
      source: 'payer_email',
      proved: true,
      warning: null,
    });
    expect(refund.body).toMatchObject({ destination_address: FIRST, destination_proved: true });
  });

  test('is answered alike when no e-mail address was left, and then not sent', async () => {
    const [withAddress, without] = [await paid(), await paid({})];

    const answers = [record((await withAddress.ask()).body), record((await without.ask()).body)];
    const mails = await mailed();

    expect(mails).toHaveLength(1);
    expect(answers[1]).toEqual({ ...answers[0], session_id: without.id });
    expect(JSON.stringify(answers)).not.toContain(EMAIL);
  });

  test('works once, for its checkout, within a day', async () => {
    const [ours, other] = [await paid(), await paid()];
    const [token, late] = [await tokenOf(ours.ask()), await tokenOf(ours.ask())];

    const elsewhere = await other.state({ address: FIRST, token });
    const first = await ours.state({ address: FIRST, token });
    const again = await ours.state({ address: SECOND, token });
    api.clock.advance(DAY_MS);
    const expired = await ours.state({ address: SECOND, token: late });

    expect(first.body).toMatchObject({ proof: 'email' });
    for (const refused of [elsewhere, again, expired])
      expect(errorOf(refused)).toBe('400 invalid_field_value token');
    expect(errorOf(await other.state({ address: FIRST, token: 'short' }))).toBe(
      '400 invalid_field_value token',
    );
    expect((await api.payer.get(ours.path)).body).toMatchObject({ address: FIRST });
  });

  test('is needed to change what was stated through one, and the change is shown', async () => {
    const { ask, state, sign } = await paid();
    await state({ address: FIRST, token: await tokenOf(ask()) });

    const signed = await state(await sign(SECOND));
    const changed = await state({ address: SECOND, token: await tokenOf(ask()) });

    expect(errorOf(signed)).toBe('400 invalid_status_transition');
    expect(changed.body).toMatchObject({ address: SECOND, proof: 'email', previous_address: FIRST });
  });

  test('changes nothing that a wallet signed, and is not used up by the attempt', async () => {
    const { ask, state, sign } = await paid();
    await state(await sign(FIRST));
    const token = await tokenOf(ask());

    const refused = await state({ address: SECOND, token });
    const both = await state({ ...(await sign(SECOND)), token });
    const same = await state({ address: FIRST, token });

    expect(errorOf(refused)).toBe('400 invalid_status_transition');
    expect(errorOf(both)).toBe('400 invalid_field_value token');
    expect(same.body).toMatchObject({ address: FIRST, proof: 'signature' });
  });

  test('can be asked for three times a day, once money has arrived', async () => {
    const { ask } = await paid();
    const answers = [];
    for (let count = 0; count < 4; count++) answers.push(await ask());
    const mails = await mailed();
    api.clock.advance(DAY_MS);

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(answers[3]?.headers.get('retry-after')).toBe('86400');
    expect(mails).toHaveLength(3);
    expect((await ask()).status).toBe(200);
    const early = await api.payer.post(`/api/v1/pay/sessions/${await unpaid()}/refund-address/link`);
    expect(errorOf(early)).toBe('400 invalid_status_transition');
    const missing = '/api/v1/pay/sessions/cs_000000000000000000000000/refund-address/link';
    expect(errorOf(await api.payer.post(missing))).toBe('404 resource_not_found');
  });

  test('is removed after it has expired', async () => {
    const { id, ask } = await paid();
    await ask();
    const store = refundAddressStore(api.db);
    const before = api.clock.now() + DAY_MS;

    const early = await store.removeLinks({ before, limit: 10 });
    const kept = await store.linkEnds(id, api.clock.now());
    await store.removeLinks({ before: before + 1, limit: 10 });

    expect(early).toBeGreaterThan(0);
    expect(kept).toEqual([before]);
    expect(await store.linkEnds(id, api.clock.now())).toEqual([]);
  });
});
