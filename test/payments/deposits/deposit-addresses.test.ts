import { getAddress } from 'viem';
import { expect } from 'vitest';
import { forwarderAddress } from '#deposits/deposit-factory.ts';
import { depositSalt } from '#deposits/salt.ts';
import { lowerCase } from '#evm/address.ts';
import { depositSums } from '#payments/deposits/deposit-sums.ts';
import { lookSchedule } from '#payments/deposits/look-schedule.ts';
import type { DepositSweep } from '#payments/model/recipient.ts';
import { transferStore } from '#payments/store/transfer-store.ts';
import { list, record, text } from '../../lab/json.ts';
import { eachPaymentsApi } from '../../support/each-payments-api.ts';
import {
  aPayment,
  errorOf,
  type Merchant,
  PLACE,
  someHash,
  TEST_CHAIN,
  TOKEN,
} from '../../support/payments-api.ts';

const PATH = '/api/v1/deposit-addresses';

eachPaymentsApi('deposit addresses', apiTest => {
  const test = apiTest
    /** An organization of its own, because lists count all of its addresses. */
    .extend('shop', ({ api }) => api.merchant())
    /** Its own, because an address has one owner. */
    .extend('recipient', ({ task: _ }) => someHash().slice(0, 42))
    /** A session with a deposit address. */
    .extend('issue', ({ shop, recipient, api }) => async (changes: object = {}) => {
      api.clock.advance(1);
      const { body } = await shop.post('/api/v1/checkout-sessions', {
        ...PLACE,
        recipient_address: recipient,
        amount: '1000',
        payment_method: 'deposit_address',
        ...changes,
      });
      const session = record(body);
      return { id: text(session.id), address: text(session.deposit_address) };
    })
    /** Pays a session at its address, and confirms it. */
    .extend('pay', ({ api }) => (to: { id: string; address: string }, amount: bigint, blockNumber = 7) => {
      const at = to.address.toLowerCase();
      const payment = aPayment({ amount, recipient: at, blockNumber, blockTime: api.clock.now() });
      return api.settle(async settled => {
        const seen = { matchedBy: 'deposit_address', confirmations: 1 } as const;
        const { id } = await settled.recordTransfer({ id: to.id }, payment, seen);
        await settled.complete(id);
        return id;
      });
    })
    /** Records sweeps of an address, as the watcher does. */
    .extend('sweep', ({ api }) => (address: string, amount: bigint, changes: Partial<DepositSweep> = {}) => {
      const swept = { ...aSweep(address.toLowerCase(), amount, api.clock.now()), ...changes };
      return api.settle(async settled => {
        await settled.recordSweeps([swept]);
        return swept;
      });
    });

  test('an address says what it follows from, and how much came and left', async ({
    shop,
    recipient,
    issue,
    pay,
    sweep,
  }) => {
    const session = await issue({ client_reference_id: 'order-7' });
    const before = record((await shop.get(`${PATH}/${session.address}`)).body);
    await pay(session, 600n);
    await pay(session, 500n);
    await sweep(session.address, 1_100n);
    await pay(session, 7n);
    await sweep(session.address, 3n, { tokenAddress: `0x${'0'.repeat(40)}` });

    const { status, body } = await shop.get(`${PATH}/${session.address.toLowerCase()}`);

    const { salt } = record(body);
    expect(before).toMatchObject({ status: 'open', amount_received: '0', sweeps: [], ended_at: null });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'deposit_address',
      mode: 'test',
      status: 'ended',
      address: getAddress(session.address),
      chain_id: TEST_CHAIN,
      token_address: TOKEN,
      recipient_address: recipient,
      factory_version: 1,
      number: 0,
      session_id: session.id,
      client_reference_id: 'order-7',
      amount: '1000',
      amount_received: '1107',
      amount_swept: '1100',
      amount_unswept: '7',
      sweeps: [{ amount: '3' }, { amount: '1100', token_address: TOKEN, block_number: 9 }],
    });
    expect(text(record(body).ended_at)).toMatch(/Z$/);
    expect(forwarderAddress({ recipient: getAddress(recipient), salt: lowerCase(text(salt)) })).toBe(
      session.address,
    );
  });

  test('a sweep in another block counts in place of that in the block that was replaced', async ({
    shop,
    issue,
    pay,
    sweep,
  }) => {
    const session = await issue();
    await pay(session, 600n);
    const { txHash } = await sweep(session.address, 600n);

    await sweep(session.address, 600n, { txHash, logIndex: 77, blockNumber: 10, blockHash: someHash() });

    const { body } = await shop.get(`${PATH}/${session.address}`);
    expect(body).toMatchObject({ amount_swept: '600', sweeps: [{ block_number: 10, tx_hash: txHash }] });
    expect(list(record(body).sweeps)).toHaveLength(1);
  });

  test('a sweep is an event once, and the payments that it took along name it', async ({
    api,
    shop,
    recipient,
    issue,
    pay,
    sweep,
  }) => {
    const session = await issue({ client_reference_id: 'order-8' });
    const early = await pay(session, 600n);
    const swept = await sweep(session.address, 600n);
    const later = await pay(session, 500n, 10);
    await api.settle(settled => settled.recordSweeps([swept]));

    const events = list(record((await shop.get('/api/v1/events?type=sweep.completed')).body).data);
    const { body: one } = await shop.get(`/api/v1/transactions/${early}`);
    const { body: listed } = await shop.get('/api/v1/transactions');

    expect(events).toHaveLength(1);
    expect(record(events[0]).data).toMatchObject({
      id: `${swept.txHash}:${swept.logIndex}`,
      deposit_address: session.address,
      amount: '600',
      recipient_address: recipient,
      tx_hash: swept.txHash,
      checkoutSession: { id: session.id, clientReferenceId: 'order-8' },
    });
    expect(record(one).sweep_tx_hash).toBe(swept.txHash);
    const hashes = list(record(listed).data).map(record);
    expect(Object.fromEntries(hashes.map(({ id, sweep_tx_hash: hash }) => [id, hash]))).toEqual({
      [early]: swept.txHash,
      [later]: null,
    });
  });

  test('they are listed newest first, by chain, token, session, recipient and money left', async ({
    shop,
    recipient,
    issue,
    pay,
    sweep,
  }) => {
    const paid = await issue();
    const swept = await issue();
    const empty = await issue();
    await pay(paid, 1_000n);
    await pay(swept, 1_000n);
    await sweep(swept.address, 1_000n);
    const found = async (query: string) => addressesIn((await shop.get(`${PATH}?${query}`)).body);

    const { body: second } = await shop.get(`${PATH}?page=2&limit=2`);

    expect(await found('')).toEqual([empty.address, swept.address, paid.address]);
    expect(second).toMatchObject({ has_more: false, total_count: 3, url: PATH });
    expect(addressesIn(second)).toEqual([paid.address]);
    expect(await found('unswept=true')).toEqual([paid.address]);
    expect(await found('unswept=false')).toEqual([empty.address, swept.address]);
    expect(await found(`session_id=${swept.id}`)).toEqual([swept.address]);
    expect(await found(`chain_id=${TEST_CHAIN}&token_address=${getAddress(TOKEN)}`)).toHaveLength(3);
    expect(await found(`recipient_address=${getAddress(recipient)}`)).toHaveLength(3);
    expect(await found('chain_id=5')).toEqual([]);
  });

  test('a transfer that is no payment counts, and once when it becomes one', async ({ api, shop, issue }) => {
    const { id, address } = await issue();
    const at = address.toLowerCase();
    const transfer = aPayment({ amount: 40n, recipient: at, blockTime: api.clock.now() });
    const store = transferStore(api.db);
    await store.upsert(shop.owner, { suggestedSessionId: null, ...transfer }, api.clock.now());
    const [kept] = await store.openIn(TEST_CHAIN, [transfer]);
    const { id: transferId = '' } = kept ?? {};
    await store.confirm([{ id: transferId, blockHash: transfer.blockHash, suggestedSessionId: null }], 1);
    await depositSums(api.db).recount(TEST_CHAIN, [at]);
    const received = async () => record((await shop.get(`${PATH}/${address}`)).body).amount_received;
    const before = await received();

    await shop.post(`/api/v1/unmatched-transfers/${transferId}/assign`, { session_id: id });

    expect([before, await received()]).toEqual(['40', '40']);
  });

  test('an address of another organization answers exactly like a missing one', async ({ api, issue }) => {
    const { address } = await issue();
    const other: Merchant = await api.merchant();

    const hidden = await other.get(`${PATH}/${address}`);
    const missing = await other.get(`${PATH}/nothing`);

    expect([errorOf(hidden), errorOf(missing)]).toEqual(['404 resource_not_found', '404 resource_not_found']);
    expect(addressesIn((await other.get(PATH)).body)).toEqual([]);
  });

  test('the export has a row for each address', async ({ shop, issue, pay }) => {
    const first = await issue();
    const second = await issue();
    await pay(first, 1_000n);

    const { body } = await shop.get(`${PATH}/export?unswept=true`);
    const all = text((await shop.get(`${PATH}/export`)).body)
      .trim()
      .split('\r\n');

    const [head, ...rows] = text(body).trim().split('\r\n');
    expect(head).toMatch(/^object,mode,address,chain_id,.*amount_unswept,created_at$/);
    expect(rows).toEqual([expect.stringContaining(`deposit_address,test,${first.address},31337,`)]);
    expect(all.map(row => row.split(',')[2])).toEqual(['address', second.address, first.address]);
  });

  test('the seed with its epochs finds every address, also later ones, and needs an admin key', async ({
    shop,
    recipient,
    issue,
  }) => {
    const before = await shop.get(`${PATH}/seed`);
    const { address } = await issue();
    const writer = await shop.withKey({ permission: 'write' });

    const { status, body } = await shop.get(`${PATH}/seed`);
    const refused = await writer.get(`${PATH}/seed`);

    const { version, seed, epochs } = record(body);
    const [epoch] = list(epochs);
    const salt = depositSalt({ seed: lowerCase(text(seed)), epoch: lowerCase(text(epoch)), number: 0 });
    expect([status, version, list(epochs).length]).toEqual([200, 1, 1]);
    expect(forwarderAddress({ recipient: getAddress(recipient), salt })).toBe(address);
    expect(before.body).toEqual(body);
    expect(errorOf(refused)).toBe('403 insufficient_permissions');
  });

  test('the address of an ended checkout is looked at as soon as possible', async ({ api, shop, issue }) => {
    const { id, address } = await issue();
    const open = await shop.post(`${PATH}/${address}/look`);
    await shop.post(`/api/v1/checkout-sessions/${id}/expire`);
    const schedule = lookSchedule(api.db, TEST_CHAIN);
    await schedule.follow(await schedule.changed(), api.clock.now());
    const later = record((await shop.get(`${PATH}/${address}`)).body);

    const { status, body } = await shop.post(`${PATH}/${address}/look`);
    const reader = await shop.withKey({ permission: 'read' });
    const refused = await reader.post(`${PATH}/${address}/look`);
    const missing = await shop.post(`${PATH}/nothing/look`);

    const due = await lookSchedule(api.db, TEST_CHAIN).due(api.clock.now(), 10);
    expect(record(open.body).next_look_at).toBe(null);
    expect(Date.parse(text(later.next_look_at))).toBeGreaterThan(api.clock.now());
    expect([status, Date.parse(text(record(body).next_look_at))]).toEqual([200, api.clock.now()]);
    expect(due.map(one => one.address)).toEqual([address.toLowerCase()]);
    expect([errorOf(refused), errorOf(missing)]).toEqual([
      '403 insufficient_permissions',
      '404 resource_not_found',
    ]);
  });

  test('a sweep of a chain without a node is refused in words', async ({ shop }) => {
    const answer = await shop.post(`${PATH}/sweep`, { chain_id: 5 });

    expect(errorOf(answer)).toBe('400 invalid_status_transition');
    expect(record(record(answer.body).error).message).toBe('Chain 5 is not configured.');
  });
});

function addressesIn(body: unknown): string[] {
  return list(record(body).data).map(one => text(record(one).address));
}

let sweeps = 0;

function aSweep(address: string, amount: bigint, blockTime: number): DepositSweep {
  sweeps += 1;
  return {
    chainId: TEST_CHAIN,
    txHash: someHash(),
    logIndex: sweeps,
    blockNumber: 9,
    blockHash: someHash(),
    blockTime,
    address,
    tokenAddress: TOKEN,
    amount,
  };
}
