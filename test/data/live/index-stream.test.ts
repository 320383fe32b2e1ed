import type { Address } from 'viem';
import { test as base, expect } from 'vitest';
import type { DataServiceOptions } from '#data/service.ts';
import type { DatabaseOptions } from '#db/open.ts';
import { systemClock } from '#lib/clock.ts';
import { startTestDataService, type TestDataService } from '../../lab/data-service.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { deploySteps } from '../../lab/sending-contract.ts';
import { bothDatabases } from '../../support/databases.ts';
import { openLive } from '../../support/live-client.ts';

const CONFIRMATIONS = 3;

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }): Promise<TestPaymentChain> => {
    const chain = await startPaymentChain({ clock: systemClock });
    onCleanup(chain.stop);
    return chain;
  });

bothDatabases('a stream of an own index', databases => {
  let chain: TestPaymentChain;
  let service: TestDataService;

  test.beforeAll(async ({ chain: shared }) => {
    chain = shared;
    service = await serve(await databases.create('index'));
  });
  test.afterAll(() => service.close());

  /** A service with an index of the chain in a database. */
  function serve(database: DatabaseOptions, options: Partial<DataServiceOptions> = {}) {
    return startTestDataService([], {
      chains: [
        {
          id: chain.chainId,
          name: 'Chain',
          native: { symbol: 'ETH', decimals: 18 },
          confirmations: CONFIRMATIONS,
          rpcUrls: [chain.rpcUrl],
          abis: [],
          backends: [{ kind: 'index', database, fromBlock: 0, pollMs: 50 }],
        },
      ],
      rateLimitPerMinute: 1e9,
      ...options,
    });
  }

  test('begins with the state and the head, and sends each new head', async () => {
    await using stream = await openLive(service.url);
    const first = await stream.next({ event: 'head' });
    const number = await chain.head();

    await chain.mine();
    const second = await stream.next({ event: 'head' }, first.at + 1);

    expect(stream.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    });
    expect(stream.events[0]?.data).toMatchObject({
      event: 'state',
      backends: [{ kind: 'index', ready: true, stalled: false }],
    });
    expect(first.data).toMatchObject({ block_number: number, final_block_number: number - CONFIRMATIONS });
    expect(second.data).toMatchObject({ block_number: number + 1 });
    expect(second.id).not.toBe(first.id);
  });

  const addressOf = (account: number) => chain.accounts[account] ?? '';
  const watching = (...watches: readonly string[]) =>
    `?${watches.map(watch => `watch=${chain.chainId}:${watch}`).join('&')}`;

  test('sends the activity of an address: coins, tokens and internal transactions', async () => {
    const [receiver, inner] = [addressOf(7), addressOf(8)];
    const steps = await deploySteps(chain, [{ kind: 'call', to: asAddress(inner), value: 5n }]);
    await using stream = await openLive(
      service.url,
      watching(
        `address:${receiver.toUpperCase().replace('0X', '0x')}`,
        `address:${inner}`,
        `token:${chain.token}`,
      ),
    );
    await stream.next({ event: 'head' });

    const coins = await chain.send({ from: 1, to: asAddress(receiver), value: 1n });
    const tokens = await chain.pay({ from: 2, to: receiver, amount: 3n });
    const call = await chain.send({ from: 3, to: steps, value: 5n });
    await chain.mine();
    const { data } = await stream.next({ event: 'activity', transaction_hash: call.hash });
    const told = stream.events.flatMap(({ data: event }) =>
      event.event === 'activity' && event.state === 'included' ? [event] : [],
    );

    const kindOf = (hash: string) =>
      ({ [coins.hash]: 'coins', [tokens]: 'tokens', [call.hash]: 'call' })[hash];
    expect(
      told.map(({ watch, state, transaction_hash: hash }) => [watch, state, kindOf(hash)]).sort(),
    ).toEqual(
      [
        [`${chain.chainId}:address:${receiver}`, 'included', 'coins'],
        [`${chain.chainId}:address:${receiver}`, 'included', 'tokens'],
        [`${chain.chainId}:address:${inner}`, 'included', 'call'],
        [`${chain.chainId}:token:${chain.token}`, 'included', 'tokens'],
      ].sort(),
    );
    const head = await stream.next({ event: 'head', block_number: Reflect.get(data, 'block_number') });
    expect(data).toMatchObject({ block_hash: Reflect.get(head.data, 'block_hash') });
  });

  test('sends a transaction as pending, included and final', async () => {
    const { hash } = await chain.send({ from: 1, to: asAddress(addressOf(9)), value: 1n });
    await using stream = await openLive(service.url, watching(`transaction:${hash}`));

    const pending = await stream.next({ event: 'activity' });
    await chain.mine();
    const included = await stream.next({ event: 'activity' }, pending.at + 1);
    await chain.mine(CONFIRMATIONS);
    const final = await stream.next({ event: 'activity' }, included.at + 1);

    const states = [pending, included, final].map(({ data }) => Reflect.get(data, 'state'));
    expect(states).toEqual(['pending', 'included', 'final']);
    expect(pending.data).toMatchObject({ block_number: null, block_hash: null, timestamp: null });
    expect(final.data).toEqual({ ...included.data, state: 'final' });
    await using late = await openLive(service.url, watching(`transaction:${hash}`));
    expect((await late.next({ event: 'activity' })).data).toEqual(final.data);
  });

  test('after a reorganisation sends the removed blocks and what was only in them', async () => {
    const receiver = addressOf(10);
    await using stream = await openLive(service.url, watching(`address:${receiver}`));
    await stream.next({ event: 'head' });
    const snapshot = await chain.snapshot();
    const lost = await chain.send({ from: 4, to: asAddress(receiver), value: 1n });
    const moved = await chain.send({ from: 5, to: asAddress(receiver), value: 2n });
    await chain.mine();
    await stream.next({ event: 'activity', transaction_hash: moved.hash });
    const before = await stream.next({ event: 'activity', transaction_hash: lost.hash });
    const number = Number(Reflect.get(before.data, 'block_number'));
    const { data: old } = await stream.next({ event: 'head', block_number: number });

    await chain.fork(snapshot, 2, [moved.raw]);
    const removed = await stream.next({ event: 'activity', state: 'removed', transaction_hash: lost.hash });
    // An index may drop its old blocks before it has the new ones. Then this transaction was removed for a moment.
    const isAgain = { event: 'activity', state: 'included', transaction_hash: moved.hash } as const;
    const again = await stream.next(isAgain, removed.at - 1);
    const reorganisation = await stream.next({ event: 'reorganisation' });

    expect(reorganisation.data).toMatchObject({
      first_block_number: number,
      removed_block_hashes: [Reflect.get(old, 'block_hash')],
    });
    expect(removed.data).toEqual({ ...before.data, state: 'removed' });
    expect(again.data).toMatchObject({ state: 'included', block_number: number });
    expect(again.data).not.toMatchObject({ block_hash: Reflect.get(old, 'block_hash') });
    const isRemovedOne = ({ data }: { data: object }) =>
      Reflect.get(data, 'state') === 'removed' && Reflect.get(data, 'transaction_hash') === lost.hash;
    expect(stream.events.filter(isRemovedOne)).toHaveLength(1);
  });

  test('a client that reconnects gets what it missed, by the header or the parameter', async () => {
    const receiver = addressOf(11);
    const query = watching(`address:${receiver}`);
    const stream = await openLive(service.url, query);
    const { id } = await stream.next({ event: 'head' });
    stream.close();
    const first = await chain.send({ from: 1, to: asAddress(receiver), value: 1n });
    await chain.mine(CONFIRMATIONS + 2);
    const second = await chain.send({ from: 1, to: asAddress(receiver), value: 2n });
    await chain.mine();
    await using fresh = await openLive(service.url);
    await fresh.next({ event: 'head', block_number: await chain.head() });

    await using byHeader = await openLive(service.url, `${query}&cursor=W10`, { 'Last-Event-ID': id });
    await using byParameter = await openLive(service.url, `${query}&cursor=${id}`);

    for (const again of [byHeader, byParameter]) {
      const last = await again.next({ event: 'activity', transaction_hash: second.hash });
      expect(last.data).toMatchObject({ state: 'included' });
      expect((await again.next({ event: 'activity', transaction_hash: first.hash })).data).toMatchObject({
        state: 'final',
      });
      expect(again.events.filter(({ data }) => data.event === 'reset')).toEqual([]);
      // Before the last of them, the cursor is the old one: a client that loses the rest asks again.
      expect(again.events[0]?.id).toBe(id);
      expect(last.id).not.toBe(id);
    }
  });

  test('a client that missed a reorganisation gets it, and of what was removed', async () => {
    const receiver = addressOf(12);
    const query = watching(`address:${receiver}`);
    const snapshot = await chain.snapshot();
    const stream = await openLive(service.url, query);
    await stream.next({ event: 'head' });
    const lost = await chain.send({ from: 6, to: asAddress(receiver), value: 1n });
    await chain.mine();
    const { data } = await stream.next({ event: 'activity', transaction_hash: lost.hash });
    const { id } = await stream.next({ event: 'head', block_number: Reflect.get(data, 'block_number') });
    stream.close();
    await chain.fork(snapshot, 3);
    await using fresh = await openLive(service.url);
    await fresh.next({ event: 'head', block_number: await chain.head() });

    await using again = await openLive(service.url, query, { 'Last-Event-ID': id });
    const removed = await again.next({ event: 'activity', state: 'removed' });

    expect(removed.data).toEqual({ ...data, state: 'removed' });
    expect((await again.next({ event: 'reorganisation' })).data).toMatchObject({
      first_block_number: Reflect.get(data, 'block_number'),
      removed_block_hashes: [Reflect.get(data, 'block_hash')],
    });
  });

  test('what is too far back is a reset', async () => {
    const { id } = await (await openLive(service.url)).next({ event: 'head' });
    const [[chainId, , hash]] = JSON.parse(Buffer.from(id, 'base64url').toString());
    const other = `${hash.startsWith('A') ? 'B' : 'A'}${hash.slice(1)}`;
    const unknown = Buffer.from(JSON.stringify([[chainId, 1, other]])).toString('base64url');

    await using stream = await openLive(service.url, `?cursor=${unknown}`);
    const reset = await stream.next({ event: 'reset' });

    expect(stream.events.map(({ data }) => data.event)).toEqual(['state', 'head', 'reset']);
    expect(reset.id).toBe(id);
  });
});

function asAddress(text: string): Address {
  return `0x${text.slice(2)}`;
}
