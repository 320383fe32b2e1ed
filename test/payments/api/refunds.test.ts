import { expect } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import { paymentChains } from '#payments/model/payment-chain.ts';
import { refundMoves } from '#payments/refunds/refund-moves.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { refundExpiryWorker } from '#payments/watcher/refunds/refund-expiry.ts';
import { list, record, text } from '../../lab/json.ts';
import { allDue } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  type ApiAnswer,
  aPayment,
  CHAINS,
  errorOf,
  idsOf,
  type Merchant,
  masked,
  PLACE,
  RECIPIENT,
  someHash,
  TOKEN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/refunds';
const OPTIONS = `${PATH}/options`;
const SENDER = `0x${'c1'.repeat(20)}`;
const TYPED = `0x${'D0'.repeat(20)}`;
const TWICE = { destination_address: TYPED, destination_confirmation: TYPED };
const never = new AbortController().signal;

eachPaymentsApi('refunds', apiTest => {
  const test = apiTest
    /** A session with confirmed transfers of these amounts, all from one sender. */
    .extend(
      'paid',
      ({ api }) =>
        async (merchant: Merchant, amounts: readonly bigint[] = [1_000n], isConfirmed = true) => {
          const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
          const id = text(record(body).id);
          const transactions: string[] = [];
          for (const amount of amounts) {
            const payment = aPayment({ amount, blockTime: api.clock.now(), sender: SENDER });
            transactions.push(
              await api.settle(async settle => {
                const seen = { matchedBy: 'wallet', confirmations: 1 } as const;
                const { id: transaction } = await settle.recordTransfer({ id }, payment, seen);
                if (isConfirmed) await settle.complete(transaction);
                return transaction;
              }),
            );
          }
          return { id, transactions };
        },
    )
    /** A confirmed transfer that matched nothing. */
    .extend('unmatched', ({ api }) => async ({ owner }: Merchant): Promise<string> => {
      const transfer = aPayment({ amount: 1_003n, blockTime: api.clock.now(), sender: SENDER });
      const store = transferStore(api.db);
      await store.upsert(owner, { suggestedSessionId: null, ...transfer }, api.clock.now());
      const all = await store.unconfirmed(allDue(transfer.chainId));
      const kept = all.filter(({ txHash }) => txHash === transfer.txHash);
      await store.confirm(kept, api.clock.now());
      return kept[0]?.id ?? 'none';
    });

  const eventsOf = async (merchant: Merchant, session: string) =>
    list(record((await merchant.get(`/api/v1/events?session_id=${session}`)).body).data).map(one =>
      text(record(one).event),
    );
  const idOf = ({ body }: ApiAnswer) => text(record(body).id);

  test('of a session reserve all that is left, and say what to send', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);

    const created = await merchant.post(PATH, { session_id, ...TWICE, reason: 'Broken' });

    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      object: 'refund',
      status: 'requires_action',
      session_id,
      transaction_id: null,
      unmatched_transfer_id: null,
      chain_id: PLACE.chain_id,
      token_address: TOKEN,
      amount: '1000',
      destination_address: TYPED.toLowerCase(),
      destination_source: 'merchant',
      destination_proved: false,
      payment_uri: `ethereum:${TOKEN}@${PLACE.chain_id}/transfer?address=${TYPED.toLowerCase()}&uint256=1000`,
      transaction_request: {
        to: TOKEN,
        value: '0',
        data: `0xa9059cbb${'0'.repeat(24)}${'d0'.repeat(20)}${'3e8'.padStart(64, '0')}`,
      },
      tx_hash: null,
      failure_reason: null,
      reason: 'Broken',
      created_by: expect.stringMatching(/^api_key:ak_/),
      expires_at: new Date(api.clock.now() + 7 * DAY_MS).toISOString(),
    });
    expect((await merchant.get(`${PATH}/${idOf(created)}`)).body).toEqual(created.body);
    expect((await merchant.get(`${OPTIONS}?session_id=${session_id}`)).body).toMatchObject({
      amount_received: '1000',
      amount_reserved: '1000',
      amount_refundable: '0',
    });
    expect(errorOf(await merchant.post(PATH, { session_id, ...TWICE }))).toBe(
      '400 invalid_status_transition',
    );
    expect(await eventsOf(merchant, session_id)).toEqual([
      'refund.created',
      'checkout.completed',
      'payment.completed',
    ]);
  });

  test('never exceed what arrived and is confirmed', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant, [1_000n, 200n]);
    const early = await paid(merchant, [1_000n], false);
    const refund = (amount: string) => merchant.post(PATH, { session_id, amount, ...TWICE });

    expect(errorOf(await refund('1201'))).toBe('400 invalid_field_value amount');
    expect((await refund('700')).status).toBe(201);
    expect(errorOf(await refund('501'))).toBe('400 invalid_field_value amount');
    expect((await refund('500')).status).toBe(201);
    expect(errorOf(await merchant.post(PATH, { session_id: early.id, ...TWICE }))).toBe(
      '400 invalid_status_transition',
    );
  });

  test('of a transaction are limited by it and by the other refunds of its session', async ({
    api,
    paid,
  }) => {
    const merchant = await api.merchant();
    const { id: session_id, transactions } = await paid(merchant, [1_000n, 200n]);
    const [first = '', second = ''] = transactions;

    const created = await merchant.post(PATH, { transaction_id: second, ...TWICE });
    await merchant.post(PATH, { session_id, amount: '900', ...TWICE });

    expect(created.body).toMatchObject({ session_id, transaction_id: second, amount: '200' });
    expect((await merchant.get(`${OPTIONS}?transaction_id=${first}`)).body).toMatchObject({
      amount_received: '1000',
      amount_reserved: '0',
      amount_refundable: '100',
    });
    expect(errorOf(await merchant.post(PATH, { transaction_id: second, ...TWICE }))).toBe(
      '400 invalid_status_transition',
    );
  });

  test('of an unmatched transfer follow it to the session it is assigned to', async ({
    api,
    paid,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const id = await unmatched(merchant);
    const created = await merchant.post(PATH, { unmatched_transfer_id: id, amount: '3', ...TWICE });
    const { id: session_id } = await paid(merchant, []);

    const assigned = await merchant.post(`/api/v1/unmatched-transfers/${id}/assign`, { session_id });

    expect(created.body).toMatchObject({ session_id: null, unmatched_transfer_id: id, amount: '3' });
    expect((await merchant.get(`${PATH}/${idOf(created)}`)).body).toMatchObject({
      session_id,
      transaction_id: idOf(assigned),
      unmatched_transfer_id: id,
    });
    expect((await merchant.get(`${OPTIONS}?session_id=${session_id}`)).body).toMatchObject({
      amount_refundable: '1000',
    });
    expect(errorOf(await merchant.post(PATH, { unmatched_transfer_id: id, ...TWICE }))).toBe(
      '400 invalid_status_transition',
    );
  });

  test('go to the wallet that signed, or to an address that is typed twice', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id, transactions } = await paid(merchant);
    const [transaction_id] = transactions;
    const wallet = `0x${'a7'.repeat(20)}`;
    await api.db('checkout_sessions').where({ id: session_id }).update({ signed_address: wallet });
    const refund = (body: object) => merchant.post(PATH, { session_id, amount: '1', ...body });

    expect((await merchant.get(`${OPTIONS}?transaction_id=${transaction_id}`)).body).toMatchObject({
      session_id,
      transaction_id,
      destinations: [
        { address: wallet, source: 'signed_wallet', proved: true, previous_address: null, warning: null },
        { address: SENDER, source: 'sender', proved: false, warning: expect.stringMatching(/exchange/) },
      ],
    });
    expect((await refund({})).body).toMatchObject({
      destination_address: wallet,
      destination_source: 'signed_wallet',
      destination_proved: true,
    });
    expect((await refund({ destination_address: wallet })).status).toBe(201);
    expect(errorOf(await refund({ destination_address: SENDER }))).toBe(
      '400 missing_required_field destination_confirmation',
    );
    expect(errorOf(await refund({ destination_address: TYPED, destination_confirmation: SENDER }))).toBe(
      '400 invalid_field_value destination_confirmation',
    );
    expect(
      (await refund({ destination_address: SENDER, destination_confirmation: SENDER })).body,
    ).toMatchObject({ destination_source: 'sender', destination_proved: false });
    for (const lost of [`0x${'0'.repeat(40)}`, `0x${'f'.repeat(39)}e`, TOKEN, RECIPIENT]) {
      const answer = await refund({ destination_address: lost, destination_confirmation: lost });
      expect(errorOf(answer)).toBe('400 invalid_field_value destination_address');
    }
  });

  test('need a destination when the payer has proved none', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const unmatched_transfer_id = await unmatched(merchant);

    expect(errorOf(await merchant.post(PATH, { unmatched_transfer_id }))).toBe(
      '400 missing_required_field destination_address',
    );
    expect(
      (await merchant.get(`${OPTIONS}?unmatched_transfer_id=${unmatched_transfer_id}`)).body,
    ).toMatchObject({ amount_refundable: '1003', destinations: [{ address: SENDER, source: 'sender' }] });
  });

  test('name one record', async ({ api, paid, unmatched }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const { transactions } = await paid(merchant);
    const unmatched_transfer_id = await unmatched(merchant);
    const refund = async (body: object) => errorOf(await merchant.post(PATH, { ...body, ...TWICE }));

    expect(await refund({})).toBe('400 missing_required_field session_id');
    expect(await refund({ session_id, unmatched_transfer_id })).toBe(
      '400 invalid_field_value unmatched_transfer_id',
    );
    expect(await refund({ session_id, transaction_id: transactions[0] })).toBe(
      '400 invalid_field_value transaction_id',
    );
    expect(errorOf(await merchant.get(OPTIONS))).toBe('400 invalid_field_value');
    expect(
      errorOf(await merchant.get(`${OPTIONS}?session_id=${session_id}&transaction_id=${transactions[0]}`)),
    ).toBe('400 invalid_field_value');
  });

  test('can be cancelled, which releases their sum', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const id = idOf(await merchant.post(PATH, { session_id, ...TWICE }));

    const cancelled = await merchant.post(`${PATH}/${id}/cancel`, { reason: 'Keeps it' });

    expect(cancelled.body).toMatchObject({
      status: 'cancelled',
      failure_reason: 'cancelled',
      cancelled_by: expect.stringMatching(/^api_key:ak_/),
      cancelled_reason: 'Keeps it',
      payment_uri: null,
      transaction_request: null,
    });
    expect(errorOf(await merchant.post(`${PATH}/${id}/cancel`))).toBe('400 invalid_status_transition');
    expect((await merchant.post(PATH, { session_id, ...TWICE })).status).toBe(201);
    expect((await eventsOf(merchant, session_id)).slice(0, 2).sort()).toEqual([
      'refund.created',
      'refund.failed',
    ]);
  });

  test('are pending while their named transaction is looked for', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const id = idOf(await merchant.post(PATH, { session_id, ...TWICE }));
    const [tx_hash, another] = [someHash(), someHash()];
    const name = (hash: string) => merchant.post(`${PATH}/${id}/complete`, { tx_hash: hash });

    const named = await name(tx_hash.toUpperCase().replace('0X', '0x'));

    expect(named.body).toMatchObject({
      status: 'pending',
      tx_hash,
      completed_by: expect.stringMatching(/^api_key:ak_/),
      payment_uri: null,
    });
    expect((await name(tx_hash)).body).toEqual(named.body);
    expect((await name(another)).body).toMatchObject({ status: 'pending', tx_hash: another });
    expect(errorOf(await merchant.post(`${PATH}/${id}/cancel`))).toBe('400 invalid_status_transition');
  });

  test('expire after seven days, once the chain was read beyond that time', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const id = idOf(await merchant.post(PATH, { session_id, ...TWICE }));
    const expiry = refundExpiryWorker({ ...api, chains: CHAINS });

    api.clock.advance(7 * DAY_MS - 1);
    await api.looked();
    const early = await expiry.runOnce(never);
    api.clock.advance(DAY_MS);
    const unread = await expiry.runOnce(never);
    await api.looked();
    await expiry.runOnce(never);

    expect([early, unread]).toEqual([0, 0]);
    expect((await merchant.get(`${PATH}/${id}`)).body).toMatchObject({
      status: 'cancelled',
      failure_reason: 'expired',
      cancelled_by: null,
      cancelled_at: new Date(api.clock.now()).toISOString(),
    });
    expect((await merchant.get(`${OPTIONS}?session_id=${session_id}`)).body).toMatchObject({
      amount_refundable: '1000',
    });
    expect((await eventsOf(merchant, session_id))[0]).toBe('refund.failed');
  });

  test('expire by the clock on a chain that is no longer configured', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const id = idOf(await merchant.post(PATH, { session_id, ...TWICE }));

    api.clock.advance(7 * DAY_MS);
    await refundExpiryWorker({ ...api, chains: paymentChains([]) }).runOnce(never);

    expect((await merchant.get(`${PATH}/${id}`)).body).toMatchObject({ failure_reason: 'expired' });
  });

  test('are listed newest first, by their filters', async ({ api, paid, unmatched }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const unmatched_transfer_id = await unmatched(merchant);
    const old = idOf(await merchant.post(PATH, { session_id, amount: '1', ...TWICE }));
    const since = api.clock.now() + 500;
    api.clock.advance(1_000);
    const recent = idOf(await merchant.post(PATH, { unmatched_transfer_id, ...TWICE }));
    await merchant.post(`${PATH}/${old}/cancel`);
    const listed = async (query: string) => idsOf(await merchant.get(`${PATH}?${query}`));

    expect(await listed('')).toEqual([recent, old]);
    expect(await listed('status=cancelled')).toEqual([old]);
    expect(await listed(`session_id=${session_id}`)).toEqual([old]);
    expect(await listed(`unmatched_transfer_id=${unmatched_transfer_id}`)).toEqual([recent]);
    expect(await listed('chain_id=1')).toEqual([]);
    expect(await listed(`from=${new Date(since).toISOString()}`)).toEqual([recent]);
    expect(await listed(`to=${new Date(since).toISOString()}`)).toEqual([old]);
  });

  test('need money that completes no checkout, until they are cancelled or expire', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const ends = {
      cancelled: (id: string) => merchant.post(`${PATH}/${id}/cancel`),
      expired: async () => {
        api.clock.advance(8 * DAY_MS);
        await api.looked();
        await refundExpiryWorker({ ...api, chains: CHAINS }).runOnce(never);
      },
    };
    for (const end of Object.values(ends)) {
      const { id: session_id } = await paid(merchant, [600n]);
      const refund = idOf(await merchant.post(PATH, { session_id, ...TWICE }));
      api.clock.advance(1);
      const rest = aPayment({ amount: 400n, blockTime: api.clock.now(), sender: SENDER });
      await api.settle(async settle => {
        const seen = { matchedBy: 'wallet', confirmations: 1 } as const;
        await settle.complete((await settle.recordTransfer({ id: session_id }, rest, seen)).id);
      });
      const session = async () => (await merchant.get(`/api/v1/checkout-sessions/${session_id}`)).body;
      const state = record((await api.payer.get(`/api/v1/pay/sessions/${session_id}/status`)).body);
      const before = await session();

      await end(refund);

      expect(before).toMatchObject({
        status: 'active',
        outcome: 'partial',
        amount_received: '1000',
        amount_refunded: '0',
        amount_reserved: '600',
      });
      expect(state).toMatchObject({ amount_reserved: '600' });
      expect(await session()).toMatchObject({ status: 'completed', outcome: 'paid', amount_reserved: '0' });
      expect(await eventsOf(merchant, session_id)).toEqual([
        'refund.failed',
        'checkout.completed',
        'payment.completed',
        'refund.created',
        'payment.completed',
      ]);
    }
  });

  test('that end complete no checkout with a payment that needs a proof', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant, [600n]);
    await merchant.post(PATH, { session_id, ...TWICE });
    api.clock.advance(1);
    const rest = aPayment({ amount: 400n, blockTime: api.clock.now(), sender: SENDER });
    await api.settle(async settle => {
      const { id } = await settle.recordTransfer({ id: session_id }, rest, {
        matchedBy: 'wallet',
        confirmations: 1,
      });
      await settle.complete(id, rest.blockHash, { proven: false, isRequired: true });
    });
    const chains = paymentChains(CHAINS.all.map(chain => ({ ...chain, requiresProof: true })));

    api.clock.advance(8 * DAY_MS);
    await api.looked();
    await refundExpiryWorker({ ...api, chains }).runOnce(never);

    expect((await merchant.get(`/api/v1/checkout-sessions/${session_id}`)).body).toMatchObject({
      status: 'expired',
      outcome: 'paid_unproven',
    });
  });

  test('follow an unmatched transfer to its session before it counts there', async ({ api, unmatched }) => {
    const merchant = await api.merchant();
    const transfer = await unmatched(merchant);
    const refund = idOf(await merchant.post(PATH, { unmatched_transfer_id: transfer, ...TWICE }));
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
    const session_id = text(record(body).id);

    await merchant.post(`/api/v1/unmatched-transfers/${transfer}/assign`, { session_id });
    const assigned = await merchant.get(`/api/v1/checkout-sessions/${session_id}`);
    await merchant.post(`${PATH}/${refund}/cancel`);

    expect(assigned.body).toMatchObject({
      status: 'active',
      amount_received: '1003',
      amount_reserved: '1003',
    });
    expect((await merchant.get(`/api/v1/checkout-sessions/${session_id}`)).body).toMatchObject({
      status: 'completed',
      amount_reserved: '0',
    });
  });

  test('of the whole of an unmatched transfer leave nothing to decide, until the chain drops one', async ({
    api,
    unmatched,
  }) => {
    const merchant = await api.merchant();
    const transfer = await unmatched(merchant);
    const { body } = await merchant.post('/api/v1/checkout-sessions', { ...PLACE, amount: '1000' });
    const path = '/api/v1/unmatched-transfers';
    const listed = async (status: string) => idsOf(await merchant.get(`${path}?status=${status}`));
    const moves = (change: (moves: ReturnType<typeof refundMoves>) => Promise<unknown>) =>
      transaction(api.db, handle => change(refundMoves({ handle, seals: api.seals, now: api.clock.now() })));
    const send = async (amount: string) => {
      const id = idOf(await merchant.post(PATH, { unmatched_transfer_id: transfer, amount, ...TWICE }));
      await moves(one => one.seen(id, aPayment({ blockTime: api.clock.now() }), 2));
      return id;
    };

    await send('1000');
    const inPart = [await listed('open'), await listed('refunded')];
    const last = await send('3');
    const whole = [await listed('open'), await listed('refunded')];
    const refused = [
      await merchant.post(`${path}/${transfer}/assign`, { session_id: text(record(body).id) }),
      await merchant.post(`${path}/${transfer}/dismiss`),
    ].map(errorOf);
    const all = (await merchant.get(path)).body;
    await moves(one => one.fail(last, 'reorged'));

    expect(inPart).toEqual([[transfer], []]);
    expect(whole).toEqual([[], [transfer]]);
    expect(refused).toEqual(['400 invalid_status_transition', '400 invalid_status_transition']);
    expect(all).toMatchObject({ data: [{ status: 'refunded', amount: '1003', amount_refunded: '1003' }] });
    expect([await listed('open'), await listed('refunded')]).toEqual([[transfer], []]);
  });

  test('are exported as CSV, and summed up per token once they are completed', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const [first, second] = [
      idOf(await merchant.post(PATH, { session_id, amount: '300', ...TWICE, reason: '=1+1' })),
      idOf(await merchant.post(PATH, { session_id, amount: '200', ...TWICE })),
    ];
    const transfer = aPayment({ blockTime: api.clock.now() });
    await transaction(api.db, handle =>
      refundMoves({ handle, seals: api.seals, now: api.clock.now() }).seen(first, transfer, 2),
    );

    const { headers, body } = await merchant.get(`${PATH}/export?format=csv`);
    const [header, ...rows] = text(body).trimEnd().split('\r\n');
    const overview = record((await merchant.get('/api/v1/analytics/overview')).body);

    expect(headers.get('content-type')).toMatch(/^text\/csv/);
    expect(header).toMatch(/^object,id,mode,status,session_id,/);
    expect(rows.map(row => row.split(',')[1]).sort()).toEqual([first, second].sort());
    expect(rows.find(row => row.includes(first))).toMatch(/,completed,.*,'=1\+1,/);
    expect(overview.refunded).toEqual([
      {
        chain_id: PLACE.chain_id,
        token_address: TOKEN,
        symbol: 'USDC',
        decimals: 6,
        amount: '300',
        refunds: 1,
      },
    ]);
    expect((await merchant.get(`/api/v1/checkout-sessions/${session_id}`)).body).toMatchObject({
      amount_refunded: '300',
    });
  });

  test('are created once per idempotency key', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const create = () =>
      merchant.post(PATH, { session_id, amount: '10', ...TWICE }, { 'Idempotency-Key': 'refund-1' });

    const [first, again] = [await create(), await create()];

    expect(again.body).toEqual(first.body);
    expect(idsOf(await merchant.get(PATH))).toHaveLength(1);
  });

  test('of another organization, and of its records, answer exactly like missing ones', async ({
    api,
    paid,
    unmatched,
  }) => {
    const [merchant, others] = [await api.merchant(), await api.merchant()];
    const theirs = await paid(others);
    const transfer = await unmatched(others);
    const refund = idOf(await others.post(PATH, { session_id: theirs.id, ...TWICE }));
    const pairs = [
      ['session_id', theirs.id, 'cs_000000000000000000000000'],
      ['transaction_id', theirs.transactions[0] ?? '', 'txn_000000000000000000000000'],
      ['unmatched_transfer_id', transfer, 'utr_000000000000000000000000'],
    ] as const;

    for (const [name, id, missing] of pairs) {
      const answer = async (value: string) =>
        masked(await merchant.post(PATH, { [name]: value, ...TWICE }), value);
      expect(await answer(id)).toEqual(await answer(missing));
    }
    const missing = 're_000000000000000000000000';
    expect(masked(await merchant.get(`${PATH}/${refund}`), refund)).toEqual(
      masked(await merchant.get(`${PATH}/${missing}`), missing),
    );
    expect(idsOf(await merchant.get(PATH))).toEqual([]);
  });

  test('can be read by keys that may not create them', async ({ api, paid }) => {
    const merchant = await api.merchant();
    const { id: session_id } = await paid(merchant);
    const reader = await merchant.withKey({ permission: 'read' });

    expect((await reader.get(`${OPTIONS}?session_id=${session_id}`)).status).toBe(200);
    expect(errorOf(await reader.post(PATH, { session_id, ...TWICE }))).toBe('403 insufficient_permissions');
  });
});
