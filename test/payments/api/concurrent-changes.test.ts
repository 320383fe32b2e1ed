import { expect } from 'vitest';
import { record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import { errorOf, type Merchant } from '../../support/payments-api.ts';

const LINKS = '/api/v1/payment-links';
const WEBHOOKS = '/api/v1/webhooks';

/** A record that can be changed: how its path is made, and two changes of it. */
const RECORDS: readonly (readonly [
  name: string,
  pathOf: (shop: Merchant) => Promise<string>,
  one: object,
  other: object,
])[] = [
  [
    'link',
    async shop => {
      const body = {
        name: 'Field notebooks',
        amount: '7',
        chain_id: 31337,
        token_address: `0x${'00'.repeat(20)}`,
        recipient_address: `0x${'5e'.repeat(20)}`,
      };
      return `${LINKS}/${text(record((await shop.post(LINKS, body)).body).id)}`;
    },
    { name: 'Ann’s notebooks' },
    { name: 'Bob’s notebooks' },
  ],
  [
    'webhook',
    async shop => {
      const { body } = await shop.post(WEBHOOKS, { url: 'https://books.example/hooks', events: ['*'] });
      return `${WEBHOOKS}/${text(record(record(body).data).id)}`;
    },
    { description: 'Ann’s' },
    { description: 'Bob’s' },
  ],
  [
    'organization',
    async () => '/api/v1/organization',
    { origins: ['https://ann.example'] },
    { origins: ['https://bob.example'] },
  ],
  [
    'notification settings',
    async () => '/api/v1/notifications',
    { email_address: 'ann@books.example' },
    { email_address: 'bob@books.example' },
  ],
];

const tagOf = ({ headers }: { headers: Headers }) => text(headers.get('ETag'));

eachPaymentsApi('a change with If-Match', test => {
  test.for(RECORDS)(
    'of a %s is made when nothing changed since it was read',
    async ([, pathOf, one], { api }) => {
      const shop = await api.merchant();
      const path = await pathOf(shop);
      const read = await shop.get(path);

      const changed = await shop.patch(path, one, { 'If-Match': tagOf(read) });

      expect(changed.status).toBe(200);
      expect((await shop.get(path)).body).toEqual(changed.body);
    },
  );

  test.for(RECORDS)(
    'of a %s is refused after another change, and changes nothing',
    async ([, pathOf, one, other], { api }) => {
      const shop = await api.merchant();
      const path = await pathOf(shop);
      const read = await shop.get(path);
      api.clock.advance(1_000);
      await shop.patch(path, one);
      const before = await shop.get(path);

      const refused = await shop.patch(path, other, { 'If-Match': tagOf(read) });

      expect(errorOf(refused)).toBe('412 precondition_failed If-Match');
      expect((await shop.get(path)).body).toEqual(before.body);
    },
  );

  test.for(RECORDS)(
    'of a %s is made once when two are sent at the same time',
    async ([, pathOf, one, other], { api }) => {
      const shop = await api.merchant();
      const path = await pathOf(shop);
      const held = { 'If-Match': tagOf(await shop.get(path)) };
      api.clock.advance(1_000);

      const answers = await Promise.all([one, other].map(change => shop.patch(path, change, held)));

      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 412]);
    },
  );

  test('follows the answer of the change before', async ({ api }) => {
    const shop = await api.merchant();
    const path = '/api/v1/organization';

    const first = await shop.patch(path, { name: 'Corner Books' });
    const second = await shop.patch(path, { name: 'Corner Books II' }, { 'If-Match': tagOf(first) });

    expect(second.status).toBe(200);
  });

  test('names any version by an asterisk, and one of several in a list or in another coding', async ({
    api,
  }) => {
    const shop = await api.merchant();
    const path = '/api/v1/notifications';
    await shop.patch(path, { enabled_events: [] });
    const tag = tagOf(await shop.get(path, { 'Accept-Encoding': 'identity' }));
    const compressed = `${tag.slice(0, -1)}-gz"`;

    for (const ifMatch of ['*', `"another", ${tag}`, `W/${tag}`, compressed]) {
      const { status } = await shop.patch(path, { enabled_events: [] }, { 'If-Match': ifMatch });
      expect([ifMatch, status]).toEqual([ifMatch, 200]);
    }
  });

  test('is not compared again when an answer is replayed', async ({ api }) => {
    const shop = await api.merchant();
    const path = '/api/v1/organization';
    const headers = { 'If-Match': tagOf(await shop.get(path)), 'Idempotency-Key': 'rename-1' };
    api.clock.advance(1_000);

    const first = await shop.patch(path, { name: 'Corner Books' }, headers);
    const again = await shop.patch(path, { name: 'Corner Books' }, headers);

    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  });
});
