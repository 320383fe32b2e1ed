import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { expect } from 'vitest';
import { transferStore } from '#payments/store/transfer-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { allDue } from '../../lab/payments-records.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  type ApiAnswer,
  type ApiClient,
  aPayment,
  errorOf,
  idsOf,
  LIVE_CHAIN,
  type Merchant,
  masked,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/recipients';
const LINKS = '/api/v1/payment-links';
const SESSIONS = '/api/v1/checkout-sessions';
const UNMATCHED = '/api/v1/unmatched-transfers';
const MISSING = 'rcp_000000000000000000000000';
const NOT_SIGNED = `0x${'12'.repeat(65)}`;

eachPaymentsApi('recipients', apiTest => {
  const someAccount = () => privateKeyToAccount(generatePrivateKey());
  const terms = (recipient: string, amount = '2000000') => ({
    token_address: TOKEN,
    chain_id: TEST_CHAIN,
    recipient_address: recipient,
    amount,
  });
  const open = async (client: ApiClient, recipient: string) =>
    record((await client.post(SESSIONS, terms(recipient))).body);
  const named = async (client: ApiClient, address: string) =>
    record((await client.post(PATH, { chain_id: TEST_CHAIN, address })).body);
  /** The only recipient of a merchant in its current state. */
  const recipientOf = async (client: ApiClient) =>
    record(list(record((await client.get(PATH)).body).data)[0]);
  async function verify(client: ApiClient, account: PrivateKeyAccount, id?: unknown): Promise<ApiAnswer> {
    const recipient =
      id === undefined ? await recipientOf(client) : record((await client.get(`${PATH}/${id}`)).body);
    const signature = await account.signMessage({ message: text(recipient.verification_message) });
    return client.post(`${PATH}/${text(recipient.id)}/verify`, { signature });
  }

  const test = apiTest
    /** A confirmed transfer that matched nothing. */
    .extend('unmatched', ({ api }) => async ({ owner }: Merchant, recipient: string): Promise<string> => {
      const store = transferStore(api.db);
      const transfer = aPayment({ recipient, amount: 777n, blockTime: api.clock.now() });
      await store.upsert(owner, transfer, api.clock.now());
      const all = await store.unconfirmed(allDue(TEST_CHAIN));
      const kept = all.filter(one => one.txHash === transfer.txHash);
      await store.confirm(kept, api.clock.now());
      return kept[0]?.id ?? '';
    });

  test('an added address is listed as unverified, with a message to sign', async ({ api }) => {
    const shop = await api.merchant();
    const { address } = someAccount();

    const made = await shop.post(PATH, { chain_id: TEST_CHAIN, address });

    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      object: 'recipient',
      mode: 'test',
      chain_id: TEST_CHAIN,
      address: address.toLowerCase(),
      verified: false,
      verified_by: null,
      verified_at: null,
    });
    const message = text(record(made.body).verification_message).split('\n');
    expect(message).toEqual(
      expect.arrayContaining([
        'tollgate at pay.example.com asks who is paid at this address.',
        `Organization: ${shop.owner.organizationId}`,
        'Mode: test',
        `Chain: ${TEST_CHAIN}`,
        `Address: ${address.toLowerCase()}`,
      ]),
    );
    expect((await shop.get(`${PATH}/${text(record(made.body).id)}`)).body).toEqual(made.body);
    expect((await shop.get(PATH)).body).toMatchObject({ total_count: 1, url: PATH, data: [made.body] });
    expect(idsOf(await shop.get(`${PATH}?chain_id=1`))).toEqual([]);
    expect(errorOf(await shop.post(PATH, { chain_id: TEST_CHAIN, address }))).toBe(
      '409 duplicate_resource address',
    );
  });

  test.for([
    [{ chain_id: LIVE_CHAIN, address: `0x${'ab'.repeat(20)}` }, '400 invalid_field_value chain_id'],
    [{ chain_id: TEST_CHAIN, address: `0x${'00'.repeat(20)}` }, '400 invalid_field_value address'],
    [{ chain_id: TEST_CHAIN, address: '0x12' }, '400 invalid_address address'],
    [{ chain_id: TEST_CHAIN }, '400 missing_required_field address'],
  ])('%o is refused as a recipient of a test key', async ([body, error], { api }) => {
    expect(errorOf(await (await api.merchant()).post(PATH, body))).toBe(error);
  });

  test('links and sessions add their recipient to the list once', async ({ api }) => {
    const shop = await api.merchant();
    const [first, second] = [someAccount().address, someAccount().address];

    const link = record((await shop.post(LINKS, { name: 'A', ...terms(first) })).body);
    await shop.post(SESSIONS, { payment_link_id: link.id });
    await open(shop, first);
    api.clock.advance(1000);
    await open(shop, second);

    const { data } = record((await shop.get(PATH)).body);
    expect(list(data).map(one => record(one).address)).toEqual([second.toLowerCase(), first.toLowerCase()]);
  });

  test('a signature verifies a recipient once, and a new signature can verify it again', async ({ api }) => {
    const shop = await api.merchant();
    const account = someAccount();
    const { id, verification_message } = await named(shop, account.address);
    const signature = await account.signMessage({ message: text(verification_message) });

    const verified = await shop.post(`${PATH}/${text(id)}/verify`, { signature });
    const replayed = await shop.post(`${PATH}/${text(id)}/verify`, { signature });
    const again = await verify(shop, account);

    expect(verified.body).toMatchObject({
      verified: true,
      verified_by: 'signature',
      verified_at: new Date(api.clock.now()).toISOString(),
    });
    expect(errorOf(replayed)).toBe('400 invalid_field_value signature');
    expect(again.body).toMatchObject({ verified: true });
  });

  test('a signature for another organization, or by another address, is refused', async ({ api }) => {
    const [ours, theirs] = [await api.merchant(), await api.merchant()];
    const account = someAccount();
    const own = await named(ours, account.address);
    const other = await named(theirs, account.address);
    const path = `${PATH}/${text(other.id)}/verify`;

    const answers = [
      await theirs.post(path, {
        signature: await account.signMessage({ message: text(own.verification_message) }),
      }),
      await theirs.post(path, {
        signature: await someAccount().signMessage({ message: text(other.verification_message) }),
      }),
      await theirs.post(path, { signature: NOT_SIGNED }),
    ];

    for (const answer of answers) expect(errorOf(answer)).toBe('400 invalid_field_value signature');
    expect(await recipientOf(theirs)).toMatchObject({ verified: false });
  });

  test('a signature for one chain and mode is refused for another', async ({ api }) => {
    const shop = await api.merchant();
    const live = await shop.withKey({ mode: 'live' });
    const account = someAccount();
    const ofTest = await named(shop, account.address);
    const { address } = account;
    const ofLive = record((await live.post(PATH, { chain_id: LIVE_CHAIN, address })).body);
    const signature = await account.signMessage({ message: text(ofTest.verification_message) });

    const replayed = await live.post(`${PATH}/${text(ofLive.id)}/verify`, { signature });

    expect(errorOf(replayed)).toBe('400 invalid_field_value signature');
    expect((await live.get(`${PATH}/${text(ofLive.id)}`)).body).toMatchObject({ verified: false });
  });

  test('of concurrent requests with one signature exactly one succeeds', async ({ api }) => {
    const shop = await api.merchant();
    const account = someAccount();
    const { id, verification_message } = await named(shop, account.address);
    const signature = await account.signMessage({ message: text(verification_message) });

    const verifying = Array.from({ length: 4 }, () => shop.post(`${PATH}/${text(id)}/verify`, { signature }));
    const statuses = (await Promise.all(verifying)).map(({ status }) => status);

    expect(statuses.toSorted()).toEqual([200, 400, 400, 400]);
    expect(await recipientOf(shop)).toMatchObject({ verified: true });
  });

  test('an organization that names another one’s address gets wallet-only sessions and reserves no amount', async ({
    api,
  }) => {
    const [ours, theirs] = [await api.merchant(), await api.merchant()];
    const { address } = someAccount();
    const before = await open(ours, address);
    const opened = [];
    for (let index = 0; index < 5; index++) opened.push(await open(theirs, address));

    const after = await open(ours, address);
    const { body } = await api.payer.get(`/api/v1/pay/sessions/${text(opened[0]?.id)}`);

    expect(before).toMatchObject({ payment_uri: expect.stringContaining('transfer') });
    expect(after).toMatchObject({ payment_uri: expect.stringContaining('transfer') });
    expect(opened.map(one => one.payment_uri)).toEqual([null, null, null, null, null]);
    expect(body).toMatchObject({ wallet_only: true, payment_uri: null });
    const answers = [await recipientOf(ours), await recipientOf(theirs)];
    expect(answers.map(one => [one.verified, one.verified_by])).toEqual([
      [false, null],
      [false, null],
    ]);
  });

  test('a signature moves an address, with its unmatched transfers, from the organization that named it first', async ({
    api,
    unmatched,
  }) => {
    const [first, owner] = [await api.merchant(), await api.merchant()];
    const account = someAccount();
    const squatted = await open(first, account.address);
    const mine = await open(owner, account.address);
    const transfer = await unmatched(first, account.address.toLowerCase());

    const verified = await verify(owner, account);

    expect(verified.body).toMatchObject({ verified: true });
    expect(idsOf(await owner.get(UNMATCHED))).toEqual([transfer]);
    expect(idsOf(await first.get(UNMATCHED))).toEqual([]);
    const taken = await first.post(`${UNMATCHED}/${transfer}/assign`, { session_id: squatted.id });
    const missing = await first.post(`${UNMATCHED}/utr_000000000000000000000000/assign`, {
      session_id: squatted.id,
    });
    expect(masked(taken, transfer)).toEqual(masked(missing, 'utr_000000000000000000000000'));
    expect((await owner.post(`${UNMATCHED}/${transfer}/assign`, { session_id: mine.id })).status).toBe(200);
    expect((await first.get(`${SESSIONS}/${text(squatted.id)}`)).body).toMatchObject({ payment_uri: null });
    expect(await open(first, account.address)).toMatchObject({ payment_uri: null });
    expect(await open(owner, account.address)).toMatchObject({
      payment_uri: expect.stringContaining('transfer'),
    });
  });

  test('of two signatures the later one counts, unless its message is older than the first verification', async ({
    api,
  }) => {
    const [ours, theirs] = [await api.merchant(), await api.merchant()];
    const account = someAccount();
    await open(ours, account.address);
    await open(theirs, account.address);
    const stored = await account.signMessage({
      message: text((await recipientOf(theirs)).verification_message),
    });
    api.clock.advance(1000);
    await verify(ours, account);

    const outdated = await theirs.post(`${PATH}/${text((await recipientOf(theirs)).id)}/verify`, {
      signature: stored,
    });
    const between = await recipientOf(ours);
    const later = await verify(theirs, account);

    expect(errorOf(outdated)).toBe('400 invalid_field_value signature');
    expect(between).toMatchObject({ verified: true });
    expect(later.body).toMatchObject({ verified: true });
    expect(await recipientOf(ours)).toMatchObject({ verified: false, verified_by: null, verified_at: null });
    expect(await open(ours, account.address)).toMatchObject({ payment_uri: null });
  });

  test('a refused signature has the same answer for every reason', async ({ api }) => {
    const [ours, theirs] = [await api.merchant(), await api.merchant()];
    const account = someAccount();
    await open(ours, account.address);
    await open(theirs, account.address);
    const { id, verification_message } = await recipientOf(theirs);
    const stored = await account.signMessage({ message: text(verification_message) });
    api.clock.advance(1000);
    await verify(ours, account);

    const wrong = await theirs.post(`${PATH}/${text(id)}/verify`, { signature: NOT_SIGNED });
    const outdated = await theirs.post(`${PATH}/${text(id)}/verify`, { signature: stored });

    expect(masked(outdated, text(id))).toEqual(masked(wrong, text(id)));
  });

  test('an unused recipient can be removed, and the next organization owns the address', async ({ api }) => {
    const [first, second] = [await api.merchant(), await api.merchant()];
    const { address } = someAccount();
    const { id } = await named(first, address);
    await named(second, address);
    const session = await open(first, address);

    const early = await first.delete(`${PATH}/${text(id)}`);
    await first.post(`${SESSIONS}/${text(session.id)}/expire`);
    const removed = await first.delete(`${PATH}/${text(id)}`);

    expect(errorOf(early)).toBe('400 invalid_status_transition');
    expect(removed.body).toEqual({ object: 'recipient', id, deleted: true });
    expect(errorOf(await first.get(`${PATH}/${text(id)}`))).toBe('404 resource_not_found');
    expect(await open(second, address)).toMatchObject({ payment_uri: expect.stringContaining('transfer') });
    expect(await open(first, address)).toMatchObject({ payment_uri: null });
  });

  test('an active link or an unmatched transfer keeps its recipient', async ({ api, unmatched }) => {
    const shop = await api.merchant();
    const { address } = someAccount();
    const link = record((await shop.post(LINKS, { name: 'A', ...terms(address) })).body);
    const { id } = await recipientOf(shop);

    const withLink = await shop.delete(`${PATH}/${text(id)}`);
    await shop.delete(`${LINKS}/${text(link.id)}`);
    await unmatched(shop, address.toLowerCase());
    const withTransfer = await shop.delete(`${PATH}/${text(id)}`);

    expect([errorOf(withLink), errorOf(withTransfer)]).toEqual([
      '400 invalid_status_transition',
      '400 invalid_status_transition',
    ]);
  });

  test('another organization’s recipient answers exactly like a missing one', async ({ api }) => {
    const [ours, theirs] = [await api.merchant(), await api.merchant()];
    const id = text((await named(theirs, someAccount().address)).id);
    const body = { signature: NOT_SIGNED };

    for (const ask of [
      (one: string) => ours.get(`${PATH}/${one}`),
      (one: string) => ours.delete(`${PATH}/${one}`),
      (one: string) => ours.post(`${PATH}/${one}/verify`, body),
    ]) {
      const hidden = await ask(id);
      expect(hidden.status).toBe(404);
      expect(masked(hidden, id)).toEqual(masked(await ask(MISSING), MISSING));
    }
    expect((await theirs.get(`${PATH}/${id}`)).status).toBe(200);
  });
});
