import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { isHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deriveAccounts } from '../../src/devnet/chain/accounts.ts';
import { list, record, text } from '../lab/json.ts';
import { startTestPayments } from '../lab/payments-service.ts';
import type { Arrival } from '../lab/webhook-receiver.ts';
import { bothDatabases } from '../support/databases.ts';
import { errorOf, idsOf } from '../support/payments-api.ts';
import { restorePayments, UPGRADE_RECIPIENTS } from '../support/upgrade-fixtures.ts';
import { startUpgradedPayments, type UpgradedPayments } from '../support/upgraded-payments.ts';

const LISTS = [
  '/payment-links',
  '/checkout-sessions',
  '/transactions',
  '/unmatched-transfers',
  '/events',
  '/api-keys',
];

bothDatabases('a payments database written by an earlier version', databases => {
  let upgraded: UpgradedPayments;
  beforeAll(async () => {
    upgraded = await startUpgradedPayments(databases);
  });
  afterAll(() => upgraded?.[Symbol.asyncDispose]());

  const books = () => upgraded.client('books');
  const api = (path: string) => `/api/v1${path}`;
  const sessionOf = async (id: string) => record((await books().get(api(`/checkout-sessions/${id}`))).body);
  const dataOf = async (path: string) => list(record((await books().get(api(path))).body).data).map(record);

  describe('is read:', () => {
    test.each(LISTS)('%s', async path => {
      const answer = await books().get(api(`${path}?limit=100`));

      expect([answer.status, idsOf(answer).length > 0]).toEqual([200, true]);
    });

    test('every link and session by its id, and its page', async () => {
      const { links, sessions } = upgraded.facts;
      const { deleted, live, parcel, ...ours } = links;
      const { ofPost, live: ofLive, ...own } = sessions;
      const pages = [
        ...[...Object.values(ours), live, parcel].map(({ code }) => `/pay/${code}`),
        ...Object.values(sessions).map(id => `/pay/s/${id}`),
      ];

      const answers = await Promise.all([
        ...Object.values(ours).map(({ id }) => books().get(api(`/payment-links/${id}`))),
        ...Object.values(own).map(id => books().get(api(`/checkout-sessions/${id}`))),
        ...pages.map(page => fetch(upgraded.url + page)),
      ]);

      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      expect((await books().get(api(`/payment-links/${deleted.id}`))).status).toBe(404);
      expect((await books().get(api(`/checkout-sessions/${ofPost}`))).status).toBe(404);
      expect((await upgraded.client('booksLive').get(api(`/checkout-sessions/${ofLive}`))).status).toBe(200);
    });

    test('the final states of sessions', async () => {
      const { completed, expired, late, reorged, ofDeletedLink } = upgraded.facts.sessions;

      expect(await sessionOf(completed)).toMatchObject({ status: 'completed', payment_status: 'paid' });
      expect(await sessionOf(ofDeletedLink)).toMatchObject({ status: 'completed', payment_link_id: null });
      expect(await sessionOf(expired)).toMatchObject({ status: 'expired' });
      expect(await sessionOf(late)).toMatchObject({ status: 'expired', amount_received: '2600000' });
      expect(await sessionOf(reorged)).toMatchObject({ status: 'completed', is_reorged: true });
    });

    test('sealed values: customers, events, secrets stored for idempotency keys', async () => {
      const { facts } = upgraded;
      const { idempotent } = facts;

      const session = await sessionOf(facts.sessions.completed);
      const events = await dataOf('/events?limit=100');
      const link = await books().post(api(idempotent.path), idempotent.body, {
        'Idempotency-Key': idempotent.key,
      });

      expect(session).toMatchObject({
        customerEmail: 'grace@reader.example',
        customerName: 'Grace Reader',
        shipping_address: { line1: '1 Harbour Street', zip: '18531' },
      });
      expect(JSON.stringify(session.form_data)).toContain('receipts@reader.example');
      expect(JSON.stringify(events)).toContain('grace@reader.example');
      expect([link.status, link.headers.get('idempotent-replayed'), link.body]).toEqual([
        201,
        'true',
        idempotent.answer,
      ]);
    });

    test('the notification settings and the webhooks, including the disabled one', async () => {
      const { webhooks } = upgraded.facts;

      const settings = record((await books().get(api('/notifications'))).body);
      const disabled = record((await books().get(api(`/webhooks/${webhooks.failing.id}`))).body);
      const deliveries = await dataOf(`/webhooks/${webhooks.failing.id}/deliveries?limit=100`);

      expect(settings.data).toMatchObject({ email_enabled: true, email_address: 'ada@books.example' });
      expect(await dataOf('/webhooks')).toHaveLength(4);
      expect(disabled.data).toMatchObject({ is_active: false, disabled_reason: expect.any(String) });
      expect(deliveries.length).toBeGreaterThanOrEqual(10);
    });

    test('the export has a row for every transaction', async () => {
      const { length } = await dataOf('/transactions?limit=100');

      const { status, body } = await books().get(api('/transactions/export'));

      expect([status, text(body).trim().split('\r\n')]).toEqual([200, expect.any(Array)]);
      expect(text(body).trim().split('\r\n')).toHaveLength(length + 1);
    });
  });

  test('keeps the permissions of its keys, and the grace period of the rolled one', async () => {
    const status = async (key: Parameters<UpgradedPayments['client']>[0], path = '/payment-links') =>
      (await upgraded.client(key).get(api(path))).status;
    const make = (key: Parameters<UpgradedPayments['client']>[0]) =>
      upgraded.client(key).post(api('/payment-links'), { name: 'Stickers', amount: '1000000' });

    expect([await status('booksRolled'), await status('booksRolledNew')]).toEqual([200, 200]);
    expect(errorOf(await upgraded.client('booksExpired').get(api('/events')))).toBe('401 key_expired');
    expect([(await make('booksRead')).status, (await make('booksWrite')).status]).toEqual([403, 201]);
    expect(idsOf(await upgraded.client('booksLive').get(api('/payment-links')))).toEqual([
      upgraded.facts.links.live.id,
    ]);
  });

  test('is not opened with another secret key', async () => {
    const options = await databases.create();
    await restorePayments(options, upgraded.receiver.url);
    const value = 'another key than the one that sealed these rows';

    const start = startTestPayments(options, { secretKey: { kind: 'value', value } });

    await expect(start).rejects.toThrow(/key/);
  });

  test('still has the unmatched transfer to an address that two organizations named', async () => {
    const atShared = (all: Record<string, unknown>[]) =>
      all.filter(one => one.recipient_address === UPGRADE_RECIPIENTS.shared);
    const seenBy = async (key: 'books' | 'post') => {
      const { body } = await upgraded.client(key).get(api('/unmatched-transfers?status=open'));
      return atShared(list(record(body).data).map(record));
    };

    const [ours, theirs] = [await seenBy('books'), await seenBy('post')];

    expect([...ours, ...theirs]).toContainEqual(expect.objectContaining({ amount: '3330000' }));
  });

  describe('goes on:', () => {
    test('a confirming payment completes', async () => {
      const { confirming } = upgraded.facts.sessions;

      expect(await upgraded.settled(confirming)).toMatchObject({
        status: 'completed',
        payment_status: 'paid',
      });
    });

    test('an open session of a link with a field named email is paid, and its event has the answers', async () => {
      const { formed } = upgraded.facts.sessions;

      await upgraded.pay(13, formed);
      const state = await upgraded.settled(formed);

      const events = (await dataOf('/events?limit=20')).filter(event =>
        JSON.stringify(event).includes(formed),
      );
      expect(state).toMatchObject({ status: 'completed', payment_status: 'paid' });
      expect(events.map(({ event }) => event)).toEqual(
        expect.arrayContaining(['payment.completed', 'checkout.completed']),
      );
      for (const part of ['receipts@reader.example', 'Door 17', 'Harbour Street', 'grace@reader.example'])
        expect(JSON.stringify(events)).toContain(part);
    });

    test('an exact amount assigned before the upgrade pays its session', async () => {
      const { plain } = upgraded.facts.sessions;

      await upgraded.pay(14, plain);

      expect(await upgraded.settled(plain)).toMatchObject({
        status: 'completed',
        return_url: `https://books.example/done?s=${plain}`,
      });
    });

    test('wallets bound before the upgrade pay in tokens, in coins, and the rest of a partial payment', async () => {
      const { signed, coin, underpaid } = upgraded.facts.sessions;

      await upgraded.pay(4, signed, 5_200_000n);
      await upgraded.pay(6, coin);
      await upgraded.pay(7, underpaid, 1_900_000n);
      await upgraded.mine();

      for (const session of [signed, coin, underpaid])
        expect(await upgraded.settled(session)).toMatchObject({
          status: 'completed',
          payment_status: 'paid',
        });
    });

    test('a transaction claimed before it existed pays its session', async () => {
      const { claimed, sessions } = upgraded.facts;
      if (!isHex(claimed.raw)) throw new Error('no transaction');

      await upgraded.sendRaw(claimed.raw);

      expect(await upgraded.settled(sessions.claimed)).toMatchObject({
        status: 'completed',
        tx_hash: claimed.hash,
      });
    });

    test('a session opened before the upgrade accepts a new signature', async () => {
      const { toSign } = upgraded.facts.sessions;
      const wallet = deriveAccounts().signer(15);
      const { body } = await upgraded.client().get(api(`/pay/sessions/${toSign}`));
      const message = text(record(body).wallet_message).replaceAll('{address}', wallet.address);

      const signature = await wallet.signMessage({ message });
      const bound = await upgraded
        .client()
        .post(api(`/pay/sessions/${toSign}/wallet`), { address: wallet.address, signature });
      await upgraded.pay(15, toSign, 5_300_000n);

      expect([bound.status, record(bound.body).payer_address]).toEqual([200, wallet.address.toLowerCase()]);
      expect(await upgraded.settled(toSign)).toMatchObject({ status: 'completed', payment_status: 'paid' });
    });

    test('a link with a field named email accepts another payer', async () => {
      const { links, idempotent } = upgraded.facts;
      const { fields } = idempotent.body.form_schema;
      const page = await (await fetch(`${upgraded.url}/pay/${links.notebooks.code}`)).text();

      const started = await upgraded.client().post(api(`/pay/links/${links.notebooks.code}/sessions`), {
        form_data: { email: 'second@reader.example' },
        shipping_option_id: 'post',
        shipping_address: { line1: '2 Hill Road', city: 'Patras', zip: '26221' },
      });

      for (const { label } of fields) expect(page).toContain(label);
      expect(started.status).toBe(201);
      const session = await sessionOf(text(record(started.body).id));
      expect(JSON.stringify(session.form_data)).toContain('second@reader.example');
    });

    test('every due delivery arrives, signed with the secret from before the upgrade', async () => {
      const { webhooks, sessions } = upgraded.facts;
      const arrivedAt = (path: string) => upgraded.receiver.arrivals.filter(one => one.path === path);

      const deliveries = await upgraded.until(
        () => dataOf(`/webhooks/${webhooks.all.id}/deliveries?limit=100`),
        all => all.every(({ status }) => status === 'success'),
      );
      await upgraded.until(
        () => dataOf(`/webhooks/${webhooks.rotated.id}/deliveries?limit=100`),
        all => all.every(({ status }) => status === 'success'),
      );

      expect(new Set(deliveries.map(({ status }) => status))).toEqual(new Set(['success']));
      const arrivals = arrivedAt('/all');
      const bodies = arrivals.map(({ body }) => String(body)).join();
      for (const told of [sessions.untold, sessions.expiring]) expect(bodies).toContain(told);
      for (const arrival of arrivals) verify(arrival, webhooks.all.secret);
      expect(arrivedAt('/rotated').length).toBeGreaterThan(0);
      for (const arrival of arrivedAt('/rotated')) {
        verify(arrival, webhooks.rotated.secret);
        const previous = hmac(arrival.body, webhooks.rotated.previous);
        expect(arrival.headers['x-service-signature-previous']).toBe(previous);
      }
    });
  });
});

function verify({ body, headers }: Arrival, secret: string): void {
  const { 'webhook-signature': signatures, 'webhook-id': id, 'webhook-timestamp': timestamp } = headers;
  const signed = new Webhook(secret).sign(text(id), new Date(Number(timestamp) * 1000), String(body));
  expect(headers['x-service-signature']).toBe(hmac(body, secret));
  expect(text(signatures).split(' ')).toContain(signed);
}

function hmac(body: Buffer, secret: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
