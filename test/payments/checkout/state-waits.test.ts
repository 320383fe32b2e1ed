import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { recipientOwnership } from '#payments/recipients/recipient-ownership.ts';
import { recipientStore } from '#payments/recipients/recipient-store.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { startTestPayments } from '../../lab/payments-service.ts';
import { until } from '../../lab/until.ts';
import { eachDatabase, sqliteDatabase } from '../../support/databases.ts';
import { aPayment, type PaymentsApi, someHash, startPaymentsApi } from '../../support/payments-api.ts';

const TICK_MS = 500;
/** A chain is late `LATE_MS` after it was last read. Its lateness is checked every `READ_AGAIN_MS`. */
const LATE_MS = 60_000;
const READ_AGAIN_MS = 5_000;
const statusOf = (id: string, wait = 25) => `/api/v1/pay/sessions/${id}/status?wait=${wait}`;

eachDatabase('a request that waits for a state change', databases => {
  let api: PaymentsApi;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
  });
  afterAll(() => api[Symbol.asyncDispose]());

  async function started() {
    const { owner } = await api.merchant();
    const recipientAddress = `0x${someHash().slice(-40)}`;
    const link = aLink(owner, { recipientAddress });
    await linkStore(api.db).insert(link);
    const checkout = record((await api.payer.post(`/api/v1/pay/links/${link.shortCode}/sessions`)).body);
    const id = text(checkout.id);
    await api.looked();
    const { headers } = await api.payer.get(statusOf(id, 0));
    return { id, recipient: recipientAddress, held: { 'If-None-Match': headers.get('etag') ?? '' } };
  }
  /** Changes a session only in the database, as another process would. */
  const sighted = ({ id, recipient }: { id: string; recipient: string }) =>
    api.settle(settled =>
      settled.recordTransfer({ id }, aPayment({ blockTime: api.clock.now(), recipient }), {
        matchedBy: 'wallet',
        confirmations: 1,
      }),
    );
  const waiting = (wanted: number) =>
    until(
      async () => api.waits.waiting(),
      count => count === wanted,
    );

  test('is answered soon after the change', async () => {
    const session = await started();
    const answer = api.payer.get(statusOf(session.id), session.held);
    await waiting(1);

    await sighted(session);
    api.clock.advance(TICK_MS);

    const { status, body } = await answer;
    expect([status, record(body).payment_status]).toEqual([200, 'confirming']);
  });

  test('is answered at once when the state has already changed', async () => {
    const session = await started();
    await sighted(session);

    const { status, body } = await api.payer.get(statusOf(session.id), session.held);

    expect([status, record(body).payment_status]).toEqual([200, 'confirming']);
  });

  test('is answered when another organization proves its ownership of the recipient', async () => {
    const session = await started();
    const rival = await api.merchant();
    const answer = api.payer.get(statusOf(session.id), session.held);
    await waiting(1);

    await transaction(api.db, async handle => {
      const at = { chainId: aLink(rival.owner).chainId, address: session.recipient };
      const recipient = await recipientStore(handle).name(rival.owner, at, api.clock.now());
      await recipientOwnership(handle).prove(recipient, 'signature', api.clock.now());
    });
    api.clock.advance(TICK_MS);

    const { status, body } = await answer;
    expect([status, record(body).wallet_only]).toEqual([200, true]);
  });

  test('is answered 304 at its deadline, even when another session changes', async () => {
    const [session, other] = [await started(), await started()];
    const answer = api.payer.get(statusOf(session.id), session.held);
    await waiting(1);

    await sighted(other);
    api.clock.advance(25_000);

    expect((await answer).status).toBe(304);
  });

  test('is answered when its chain becomes late, and when it no longer is', async () => {
    const { id, held } = await started();
    const late = api.payer.get(statusOf(id), held);
    await waiting(1);

    api.clock.advance(LATE_MS + 1);
    const lateAnswer = await late;
    const timely = api.payer.get(statusOf(id), { 'If-None-Match': lateAnswer.headers.get('etag') ?? '' });
    await waiting(1);
    await api.looked();
    api.clock.advance(READ_AGAIN_MS);
    const timelyAnswer = await timely;

    expect([lateAnswer.status, record(lateAnswer.body).is_chain_late]).toEqual([200, true]);
    expect([timelyAnswer.status, record(timelyAnswer.body).is_chain_late]).toEqual([200, false]);
  });

  test('is answered at once without an entity tag, with another tag, or without a wait', async () => {
    const { id, held } = await started();

    const answers = [
      await api.payer.get(statusOf(id)),
      await api.payer.get(statusOf(id), { 'If-None-Match': '"of-another-state"' }),
      await api.payer.get(statusOf(id, 0), held),
      await api.payer.get(`/api/v1/pay/sessions/${id}/status`, held),
    ];

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 304, 304]);
  });

  test('also waits with a tag weakened by a proxy', async () => {
    const { id, held } = await started();
    const answer = api.payer.get(statusOf(id), { 'If-None-Match': `W/${held['If-None-Match']}` });

    await waiting(1);
    api.clock.advance(25_000);

    expect((await answer).status).toBe(304);
  });

  test.each([-1, 26, 1.5])('is refused with a wait of %d seconds', async wait => {
    const { id } = await started();

    expect((await api.payer.get(statusOf(id, wait))).status).toBe(400);
  });

  test('is answered at once beyond ten per session, and a client that hangs up makes room', async () => {
    const { id, held } = await started();
    const leaving = new AbortController();
    const options = { headers: held, signal: leaving.signal };
    const ten = Array.from({ length: 10 }, () => fetch(api.url + statusOf(id), options).catch(() => 'left'));
    expect(await waiting(10)).toBe(10);

    const beyond = await api.payer.get(statusOf(id), held);
    leaving.abort();

    expect(beyond.status).toBe(304);
    expect(await waiting(0)).toBe(0);
    expect(new Set(await Promise.all(ten))).toEqual(new Set(['left']));
  });
});

test('waiting requests are answered when the service shuts down', async () => {
  const database = await sqliteDatabase('payments');
  const service = await startTestPayments(database.options);
  const send = async (path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(service.url + path, {
      headers: { ...headers, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const key = { Authorization: `Bearer ${service.demoKey}` };
  const link = record(
    await (await send('/api/v1/payment-links', { name: 'Drain', amount: '5000000' }, key)).json(),
  );
  const path = `/api/v1/pay/links/${text(link.short_code)}/sessions`;
  const id = text(record(await (await send(path, {})).json()).id);
  const held = { 'If-None-Match': (await send(statusOf(id, 0))).headers.get('etag') ?? '' };
  const answer = send(statusOf(id), undefined, held);
  await send('/healthz');

  await service.close();

  expect((await answer).status).toBe(304);
  await database.remove();
});
