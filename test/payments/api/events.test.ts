import { expect } from 'vitest';
import type { PaymentsSchemas } from '#contract/contracts/payments.ts';
import { newId } from '#lib/ids.ts';
import { eventStore } from '#payments/events/event-store.ts';
import type { EventData } from '#payments/model/event.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { aLink } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  errorOf,
  idsOf,
  type Merchant,
  masked,
  RECIPIENT,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/events';
const DAY = 24 * 60 * 60 * 1000;

eachPaymentsApi('events', test => {
  /** A session of the merchant after a simulated payment. */
  async function simulated(merchant: Merchant, outcome: string): Promise<string> {
    const { body } = await merchant.post('/api/v1/checkout-sessions', {
      token_address: TOKEN,
      chain_id: TEST_CHAIN,
      recipient_address: RECIPIENT,
      amount: '1000',
      clientReferenceId: 'order-1',
      customerEmail: 'ada@example.com',
    });
    const id = text(record(body).id);
    const { status } = await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome });
    expect(status).toBe(200);
    return id;
  }
  const typesOf = ({ body }: { body: unknown }) => list(record(body).data).map(one => record(one).event);

  test('are listed newest first, and events of one millisecond in reverse order', async ({ api }) => {
    const merchant = await api.merchant();
    const id = await simulated(merchant, 'completed');
    api.clock.advance(1000);
    await simulated(merchant, 'failed');

    const answer = await merchant.get(PATH);

    expect(typesOf(answer)).toEqual(['payment.failed', 'checkout.completed', 'payment.completed']);
    expect(answer.body).toMatchObject({ object: 'list', total_count: 3, has_more: false, url: PATH });
    expect(list(record(answer.body).data)[1]).toMatchObject({
      object: 'event',
      mode: 'test',
      created_at: new Date(api.clock.now() - 1000).toISOString(),
      data: { checkoutSession: { id, clientReferenceId: 'order-1', customerEmail: 'ada@example.com' } },
    });
  });

  test('of one session include those of its transactions and none of other sessions', async ({ api }) => {
    const merchant = await api.merchant();
    const stranger = await api.merchant();
    const id = await simulated(merchant, 'reorg');
    await simulated(merchant, 'completed');
    const theirs = await simulated(stranger, 'completed');

    const answer = await merchant.get(`${PATH}?session_id=${id}`);
    const completed = await merchant.get(`${PATH}?session_id=${id}&type=checkout.completed`);
    const foreign = await merchant.get(`${PATH}?session_id=${theirs}`);

    expect(typesOf(answer)).toEqual(['payment.failed', 'checkout.completed', 'payment.completed']);
    expect(JSON.stringify(answer.body).split(`"session_id":"${id}"`)).toHaveLength(4);
    expect(typesOf(completed)).toEqual(['checkout.completed']);
    expect(foreign.body).toMatchObject({ data: [], total_count: 0 });
  });

  test('are filtered by type and listed in pages', async ({ api }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'reorg');

    expect(typesOf(await merchant.get(`${PATH}?type=payment.completed`))).toEqual(['payment.completed']);
    expect(typesOf(await merchant.get(`${PATH}?type=checkout.expired`))).toEqual([]);
    expect(typesOf(await merchant.get(`${PATH}?limit=1&page=2`))).toHaveLength(1);
    expect(errorOf(await merchant.get(`${PATH}?type=test.ping`))).toBe('400 invalid_field_value type');
  });

  test('go back 90 days', async ({ api }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'failed');

    api.clock.advance(90 * DAY);
    expect(idsOf(await merchant.get(PATH))).toHaveLength(1);

    api.clock.advance(1);
    expect(idsOf(await merchant.get(PATH))).toEqual([]);
  });

  const emailField: PaymentsSchemas['FormField'] = {
    id: 'email',
    type: 'email',
    label: 'Send the receipt to',
    required: true,
    placeholder: null,
    options: [],
  };

  test('of an old link with a form field named email keep its answer apart from the payer’s e-mail address', async ({
    api,
  }) => {
    const merchant = await api.merchant();
    const link = aLink(merchant.owner, { formSchema: { fields: [emailField] } });
    await linkStore(api.db).insert(link);
    const renamed = await merchant.patch(`/api/v1/payment-links/${link.id}`, { name: 'Tea' });

    const started = await api.payer.post(`/api/v1/pay/links/${link.shortCode}/sessions`, {
      customerEmail: 'ada@example.com',
      form_data: { email: 'office@example.com' },
    });
    const id = text(record(started.body).id);
    await merchant.post(`/api/v1/test/sessions/${id}/simulate`, { outcome: 'completed' });

    const session = await merchant.get(`/api/v1/checkout-sessions/${id}`);
    const events = list(record((await merchant.get(PATH)).body).data);
    const form_data = { email: 'ada@example.com', field_email: 'office@example.com' };
    expect([renamed.status, started.status]).toEqual([200, 201]);
    expect(record(session.body).form_data).toEqual({ email: 'office@example.com' });
    expect(events.map(one => record(record(one).data).form_data)).toEqual([form_data, form_data]);
  });

  test('written before email and shipping_address were reserved names show such answers with the prefix field_', async ({
    api,
  }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'failed');
    const events = eventStore(api.db, api.seals);
    const { data } = await events.list(merchant.owner, { since: 0 }, { page: 1, limit: 1 });
    const before = { size: 'M', email: true, shipping_address: 'here' };
    for (const event of data) {
      const old: EventData = JSON.parse(JSON.stringify({ ...event.data, form_data: before }));
      await events.insert([{ event: { ...event, id: newId('evt'), data: old }, fact: 'old', order: 9 }]);
    }

    const [told] = list(record((await merchant.get(PATH)).body).data);

    const form_data = { size: 'M', field_email: true, field_shipping_address: 'here' };
    expect(record(record(told).data).form_data).toEqual(form_data);
  });

  test('that an older version recorded name no product and no outcome', async ({ api }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'failed');
    const events = eventStore(api.db, api.seals);
    const { data } = await events.list(merchant.owner, { since: 0 }, { page: 1, limit: 1 });
    for (const event of data) {
      const checkoutSession = { ...event.data.checkoutSession, name: undefined, outcome: undefined };
      const old: EventData = JSON.parse(JSON.stringify({ ...event.data, checkoutSession }));
      await events.insert([{ event: { ...event, id: newId('evt'), data: old }, fact: 'older', order: 9 }]);
    }

    const told = list(record((await merchant.get(PATH)).body).data).map(one => record(one).data);

    const { id: _, ...known } = record(record(told[1]).checkoutSession);
    expect(known).toMatchObject({ outcome: 'failed', customerEmail: 'ada@example.com' });
    expect(record(told[0]).checkoutSession).toMatchObject({ ...known, name: null, outcome: null });
  });

  test('are read one by one exactly as in the list', async ({ api }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'completed');
    const [listed] = list(record((await merchant.get(PATH)).body).data).map(record);

    const single = await merchant.get(`${PATH}/${text(listed?.id)}`);

    expect([single.status, single.body]).toEqual([200, listed]);
  });

  test('of another organization or of the other mode answer exactly like missing ones', async ({ api }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'completed');
    const [id = ''] = idsOf(await merchant.get(PATH));
    const live = await merchant.withKey({ mode: 'live' });
    const other = await api.merchant();
    const missing = `evt_${'0'.repeat(24)}`;

    for (const client of [live, other]) {
      const hidden = masked(await client.get(`${PATH}/${id}`), id);
      expect(hidden).toEqual(masked(await client.get(`${PATH}/${missing}`), missing));
      expect(hidden).toMatchObject({ status: 404, body: { error: { message: "No event with id '<id>'." } } });
    }
  });

  test('are those of the caller’s organization and mode only', async ({ api }) => {
    const merchant = await api.merchant();
    await simulated(merchant, 'completed');
    const live = await merchant.withKey({ mode: 'live' });
    const others = await api.merchant();

    expect(idsOf(await live.get(PATH))).toEqual([]);
    expect(idsOf(await others.get(PATH))).toEqual([]);
  });
});
