import { type Address, getAddress } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '#lib/ids.ts';
import { createLogger } from '#lib/logger.ts';
import { memberStore } from '#payments/members/member-store.ts';
import { notifiers } from '#payments/notifications/notifier.ts';
import { record, text } from '../../lab/json.ts';
import { eachDatabase } from '../../support/databases.ts';
import {
  type ApiClient,
  CHAINS,
  LIVE_CHAIN,
  type PaymentsApi,
  startPaymentsApi,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';
import { type SmtpReceiver, startSmtpReceiver } from '../../support/smtp-receiver.ts';

const OWNER = 'owner@shop.example';
const never = new AbortController().signal;
let addresses = 0;

function newAddress(): Address {
  addresses += 1;
  return `0x${addresses.toString(16).padStart(40, 'b')}`;
}

eachDatabase('changes of where payments of real money can go', databases => {
  let receiver: SmtpReceiver;
  let api: PaymentsApi;
  beforeAll(async () => {
    receiver = await startSmtpReceiver();
    const mail = { smtp: receiver.url, from: 'pay@shop.example' };
    api = await startPaymentsApi(await databases.create('payments'), { mail });
  });
  afterAll(async () => {
    await api[Symbol.asyncDispose]();
    await receiver[Symbol.asyncDispose]();
  });

  /** An organization whose address for notifications is set, while mails are off. */
  async function organization(mode: 'live' | 'test' = 'live') {
    const admin = await (await api.merchant()).withKey({ mode, permission: 'admin' });
    await admin.patch('/api/v1/notifications', { email_address: OWNER });
    return admin;
  }

  /** Sends what is due; returns receivers and texts of the new mails. */
  async function mailed() {
    const before = receiver.mails.length;
    const [mails] = notifiers({
      db: api.db,
      seals: api.seals,
      clock: api.clock,
      chains: CHAINS,
      mailer: api.outgoing.mailer,
      messenger: undefined,
      log: createLogger({ level: 'silent' }),
    });
    while (((await mails?.runOnce(never)) ?? 0) > 0) {}
    return receiver.mails.slice(before).map(({ to, parts }) => ({ to, text: parts['text/plain'] ?? '' }));
  }

  describe('are mailed', () => {
    test.each([
      ['added to the list', '/api/v1/recipients', (address: string) => ({ chain_id: LIVE_CHAIN, address })],
      [
        'named by a session',
        '/api/v1/checkout-sessions',
        (address: string) => ({
          chain_id: LIVE_CHAIN,
          token_address: TOKEN,
          recipient_address: address,
          amount: '4000',
        }),
      ],
      [
        'named by a link',
        '/api/v1/payment-links',
        (address: string) => ({
          name: 'Notebook',
          chain_id: LIVE_CHAIN,
          token_address: TOKEN,
          recipient_address: address,
          amount: '4000',
        }),
      ],
    ])('once for a recipient that is %s', async (_, path, bodyOf) => {
      const shop = await organization();
      const address = newAddress();

      await shop.post(path, bodyOf(address));
      await shop.post(path, bodyOf(address));
      const mails = await mailed();

      expect(mails).toHaveLength(1);
      expect(mails[0]?.to).toEqual([OWNER]);
      expect(mails[0]?.text).toContain('Recipient added');
      expect(mails[0]?.text).toContain(`Address: ${getAddress(address)}`);
      expect(mails[0]?.text).toContain(`Chain: Base (${LIVE_CHAIN})`);
    });

    test('for a recipient that is removed, and for the lock', async () => {
      const shop = await organization();
      const { body } = await shop.post('/api/v1/recipients', { chain_id: LIVE_CHAIN, address: newAddress() });
      await mailed();

      await shop.delete(`/api/v1/recipients/${text(record(body).id)}`);
      for (const locked of [true, true, false])
        await shop.patch('/api/v1/organization', { recipients_locked: locked });

      const titles = (await mailed()).map(mail => mail.text.split('\n')[0]);
      expect(titles.toSorted()).toEqual([
        expect.stringContaining('List of recipients locked'),
        expect.stringContaining('List of recipients unlocked'),
        expect.stringContaining('Recipient removed'),
      ]);
    });

    test('to the address before, when a thief sets another one first', async () => {
      const shop = await organization();

      await shop.patch('/api/v1/notifications', { email_address: 'thief@example.com' });
      const mails = await mailed();

      expect(mails.map(({ to }) => to)).toEqual([[OWNER]]);
      expect(mails[0]?.text).toContain('New address: thief@example.com');
    });

    test('for another default recipient', async () => {
      const shop = await organization();
      const address = newAddress();

      await shop.patch('/api/v1/organization', { default_recipient_address: address });
      await shop.patch('/api/v1/organization', { default_recipient_address: address });
      const mails = await mailed();

      expect(mails.map(({ to }) => to)).toEqual([[OWNER]]);
      expect(mails[0]?.text).toContain('Default recipient changed');
      expect(mails[0]?.text).toContain(`New default: ${getAddress(address)}`);
    });

    test('twenty times per hour, although a stolen key adds more', async () => {
      const shop = await organization();

      for (let added = 0; added < 25; added += 1)
        await shop.post('/api/v1/recipients', { chain_id: LIVE_CHAIN, address: newAddress() });
      const first = await mailed();
      api.clock.advance(3_600_001);
      await shop.post('/api/v1/recipients', { chain_id: LIVE_CHAIN, address: newAddress() });

      expect(first).toHaveLength(20);
      expect(await mailed()).toHaveLength(1);
    });
  });

  describe('by new keys', () => {
    const create = (shop: ApiClient, permission: string) =>
      shop.post('/api/v1/api-keys', { name: `Till, ${permission}`, permission });

    /** An organization with an owner, who gets the mails, and an admin key. */
    async function owned(mode: 'live' | 'test' = 'live') {
      const shop = await (await api.merchant()).withKey({ mode, permission: 'admin' });
      const { id: organizationId } = record((await shop.get('/api/v1/organization')).body);
      const owner = {
        organizationId: text(organizationId),
        email: 'ada@shop.example',
        role: 'owner',
      } as const;
      const createdAt = api.clock.now();
      await memberStore(api.db).insert({
        ...owner,
        id: newId('mem'),
        name: 'Ada',
        createdAt,
        removedAt: null,
      });
      return shop;
    }

    test('are mailed to the owners while the key could decide, at most twenty times per hour', async () => {
      const shop = await owned();
      await create(shop, 'read');
      await create(shop, 'write');
      await create(shop, 'admin');
      const mails = await mailed();
      await shop.patch('/api/v1/organization', { recipients_locked: true });
      await mailed();
      await create(shop, 'write');
      const whileLocked = await mailed();
      for (let made = 0; made < 25; made += 1) await create(shop, 'admin');

      expect(mails.map(({ to }) => to)).toEqual(Array(2).fill(['ada@shop.example']));
      const texts = mails.map(mail => mail.text).sort();
      expect(texts[0]).toContain('API key created: Till, admin');
      expect(texts[0]).toMatch(/Permission: admin\r?\nCreated by: A key\r?\n/);
      expect(texts[1]).toContain('Permission: write');
      expect(whileLocked).toEqual([]);
      expect(await mailed()).toHaveLength(15); // five keys of this hour came before
    });

    test('are not mailed in test mode', async () => {
      await create(await owned('test'), 'admin');

      expect(await mailed()).toEqual([]);
    });
  });

  describe('are not mailed', () => {
    test('in test mode', async () => {
      const shop = await organization('test');

      await shop.post('/api/v1/recipients', { chain_id: TEST_CHAIN, address: newAddress() });

      expect(await mailed()).toEqual([]);
    });

    test('without an address for notifications', async () => {
      const shop = await (await api.merchant()).withKey({ mode: 'live', permission: 'admin' });

      await shop.post('/api/v1/recipients', { chain_id: LIVE_CHAIN, address: newAddress() });

      expect(await mailed()).toEqual([]);
    });
  });
});
