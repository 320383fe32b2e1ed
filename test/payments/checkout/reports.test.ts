import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { transaction } from '#db/transaction.ts';
import { DAY_MS } from '#lib/clock.ts';
import { lookUpHash, reportedHashStore } from '#payments/sessions/reported-hash-store.ts';
import { linkStore } from '#payments/store/link-store.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { record, text } from '../../lab/json.ts';
import { aLink, allDue } from '../../lab/payments-records.ts';
import { eachDatabase } from '../../support/databases.ts';
import { listedTransfers } from '../../support/listed-transfers.ts';
import {
  aPayment,
  errorOf,
  type Merchant,
  type PaymentsApi,
  someHash,
  startPaymentsApi,
  TEST_CHAIN,
} from '../../support/payments-api.ts';

const PRICE = 2_500_000n;

eachDatabase('a payment that its payer reports', databases => {
  let api: PaymentsApi;
  let merchant: Merchant;
  beforeAll(async () => {
    api = await startPaymentsApi(await databases.create('payments'));
    merchant = await api.merchant();
  });
  afterAll(() => api[Symbol.asyncDispose]());

  async function shop() {
    const link = aLink(merchant.owner, { recipientAddress: `0x${someHash().slice(-40)}` });
    await linkStore(api.db).insert(link);
    return link;
  }
  type Link = Awaited<ReturnType<typeof shop>>;

  async function started({ shortCode }: Link) {
    const { body } = await api.payer.post(`/api/v1/pay/links/${shortCode}/sessions`, {});
    return { id: text(record(body).id), message: text(record(body).wallet_message) };
  }

  /** A transfer that matches no session and is confirmed. */
  async function arrived(link: Link, changes: object = {}) {
    const seen = await seenInBlock(link, changes);
    const store = transferStore(api.db);
    await store.confirm(await store.unconfirmed(allDue(TEST_CHAIN)), api.clock.now());
    return seen;
  }

  async function seenInBlock({ recipientAddress: recipient }: Link, changes: object = {}) {
    const sender = privateKeyToAccount(generatePrivateKey());
    const transfer = aPayment({
      blockTime: api.clock.now(),
      recipient,
      sender: sender.address.toLowerCase(),
      amount: PRICE,
      ...changes,
    });
    await transferStore(api.db).upsert(merchant.owner, transfer, api.clock.now());
    return { transfer, sender };
  }

  const lookUp = (id: string, txHash: string) =>
    transaction(api.db, handle => lookUpHash(handle, { id, chainId: TEST_CHAIN }, txHash, api.clock.now()));
  const report = (id: string, body: object) => api.payer.post(`/api/v1/pay/sessions/${id}/reports`, body);
  const found = async (id: string, body: object) => record((await report(id, body)).body);
  const unmatched = async (txHash: string) => {
    const { data } = await listedTransfers(api.db, merchant.owner, {}, { page: 1, limit: 100 });
    return data.find(one => one.txHash === txHash);
  };
  async function sign(
    { id, message }: { id: string; message: string },
    by: ReturnType<typeof privateKeyToAccount>,
  ) {
    const signature = await by.signMessage({ message: message.replace('{address}', by.address) });
    return api.payer.post(`/api/v1/pay/sessions/${id}/wallet`, { address: by.address, signature });
  }

  test('by its hash or its sender becomes a candidate, and stays unmatched', async () => {
    const link = await shop();
    const [byHash, bySender] = [await started(link), await started(link)];
    const { transfer } = await arrived(link);

    const answers = [
      await found(byHash.id, { tx_hash: transfer.txHash.toUpperCase().replace('0X', '0x') }),
      await found(bySender.id, { sender_address: transfer.sender }),
    ];

    for (const answer of answers) {
      expect(answer).toMatchObject({
        found: 'candidate',
        state: {
          outcome: 'waiting',
          candidates: [{ amount: `${PRICE}`, is_only: false, confirmations: 2, required_confirmations: 2 }],
        },
      });
      expect(JSON.stringify(answer)).not.toContain(transfer.sender);
      expect(JSON.stringify(answer)).not.toContain(transfer.txHash);
    }
    expect(await unmatched(transfer.txHash)).toMatchObject({ assignedAt: null, suggestedSessionId: null });
  });

  test('by a stranger who names another’s rounded payment never becomes the stranger’s', async () => {
    const link = await shop();
    const [payer, stranger] = [await started(link), await started(link)];
    const { transfer, sender } = await arrived(link);
    const thief = privateKeyToAccount(generatePrivateKey());

    await report(stranger.id, { tx_hash: transfer.txHash });
    const claimedToo = await sign(stranger, thief);
    await api.payer.post(`/api/v1/pay/sessions/${stranger.id}/claims`, { tx_hash: transfer.txHash });
    const robbed = await unmatched(transfer.txHash);
    const proved = await sign(payer, sender);
    const afterwards = await found(stranger.id, { tx_hash: transfer.txHash });

    expect(claimedToo.body).toMatchObject({ outcome: 'waiting', amount_received: '0' });
    expect(robbed).toMatchObject({ assignedAt: null, suggestedSessionId: null });
    expect(proved.body).toMatchObject({ status: 'completed', outcome: 'paid', tx_hash: transfer.txHash });
    expect(afterwards).toMatchObject({ found: 'other', state: { status: 'active', candidates: [] } });
    expect(await found(payer.id, { tx_hash: transfer.txHash })).toMatchObject({ found: 'counted' });
  });

  test('is proved by its wallet after the checkout has ended, and is late', async () => {
    const link = await shop();
    const session = await started(link);
    const { sender } = await arrived(link);
    await merchant.post(`/api/v1/checkout-sessions/${session.id}/expire`);

    const stranger = await sign(session, privateKeyToAccount(generatePrivateKey()));
    const proved = await sign(session, sender);
    const repeated = await sign(session, sender);

    expect(errorOf(stranger)).toBe('400 invalid_status_transition');
    expect(proved.body).toMatchObject({
      status: 'expired',
      outcome: 'paid_late',
      amount_received: `${PRICE}`,
    });
    expect(repeated.body).toEqual(proved.body);
  });

  test('is a candidate before it is confirmed, and is being confirmed once its sender has signed', async () => {
    const link = await shop();
    const session = await started(link);
    const { transfer, sender } = await seenInBlock(link);

    const answer = await found(session.id, { tx_hash: transfer.txHash });
    const signed = await sign(session, sender);

    expect(answer).toMatchObject({ found: 'candidate', state: { candidates: [{ confirmations: 0 }] } });
    expect(signed.body).toMatchObject({ status: 'active', outcome: 'confirming', amount_received: '0' });
    expect(await unmatched(transfer.txHash)).toBeUndefined();
  });

  test('is signed for after the end of the checkout before it is confirmed', async () => {
    const link = await shop();
    const session = await started(link);
    const { sender } = await seenInBlock(link);
    await merchant.post(`/api/v1/checkout-sessions/${session.id}/expire`);

    expect((await sign(session, sender)).body).toMatchObject({
      status: 'expired',
      outcome: 'confirming',
      payer_address: sender.address.toLowerCase(),
    });
  });

  test('by a hash is no candidate when it is too small, from before the checkout or of another shop', async () => {
    const link = await shop();
    const [byHash, bySender] = [await started(link), await started(link)];
    const { transfer: small } = await arrived(link, { amount: PRICE / 10n - 1n });
    const { transfer: early } = await arrived(link, { blockTime: api.clock.now() - 6 * 60_000 });
    const { transfer: elsewhere } = await arrived(await shop());

    for (const { txHash, sender } of [small, early, elsewhere]) {
      const state = { candidates: [] };
      expect(await found(bySender.id, { sender_address: sender })).toMatchObject({ found: 'unknown', state });
      expect(await found(byHash.id, { tx_hash: txHash })).toMatchObject({ found: 'searching', state });
    }
  });

  test.each([
    ['pending', 'pending'],
    ['failed', 'failed'],
    ['disputed', 'disputed'],
    ['unknown', 'unknown'],
    ['mined', 'no_payment'],
  ] as const)('by a hash that the nodes call %s is answered %s', async (status, answer) => {
    const { id } = await started(await shop());
    const txHash = someHash();

    const first = await found(id, { tx_hash: txHash });
    await reportedHashStore(api.db).settle(TEST_CHAIN, [[txHash, status]]);

    expect(first).toMatchObject({ found: 'searching' });
    expect(await found(id, { tx_hash: txHash })).toMatchObject({ found: answer });
  });

  test('by more than ten hashes that no record has is refused', async () => {
    const { id } = await started(await shop());
    const first = someHash();
    await report(id, { tx_hash: first });
    for (let count = 0; count < 9; count++) await lookUp(id, someHash());

    expect(errorOf(await report(id, { tx_hash: someHash() }))).toBe('400 invalid_status_transition');
    expect(await found(id, { tx_hash: first })).toMatchObject({ found: 'searching' });
  });

  test('is not looked up once the checkout is completed, or ended a day ago', async () => {
    const link = await shop();
    const [ended, paid] = [await started(link), await started(link)];
    const { transfer, sender } = await arrived(link);
    await sign(paid, sender);
    await merchant.post(`/api/v1/checkout-sessions/${ended.id}/expire`);
    const before = await found(ended.id, { tx_hash: someHash() });
    api.clock.advance(DAY_MS + 1);

    expect(before).toMatchObject({ found: 'searching' });
    expect(await found(ended.id, { tx_hash: someHash() })).toMatchObject({ found: 'unknown' });
    expect(await found(paid.id, { tx_hash: someHash() })).toMatchObject({ found: 'unknown' });
    expect(await found(paid.id, { tx_hash: transfer.txHash })).toMatchObject({ found: 'counted' });
  });

  test('needs either a hash or a sender', async () => {
    const { id } = await started(await shop());
    const both = { tx_hash: someHash(), sender_address: `0x${'c1'.repeat(20)}` };

    expect(errorOf(await report(id, {}))).toBe('400 missing_required_field');
    expect(errorOf(await report(id, both))).toBe('400 missing_required_field');
    expect(errorOf(await report(id, { tx_hash: '0x12' }))).toBe('400 invalid_field_value tx_hash');
    expect(errorOf(await report('cs_000000000000000000000000', both))).toMatch(/^40/);
  });
});
