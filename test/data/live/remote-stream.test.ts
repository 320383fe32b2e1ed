import type { Address } from 'viem';
import { test as base, describe, expect } from 'vitest';
import type { ServedChain } from '#data/open-chain.ts';
import { systemClock } from '#lib/clock.ts';
import { servedTestChain } from '../../indexer/support.ts';
import { startBlockscoutEmulator } from '../../lab/blockscout-emulator.ts';
import { startTestDataService, type TestDataService } from '../../lab/data-service.ts';
import { startPaymentChain, type TestPaymentChain } from '../../lab/payment-chain.ts';
import { startThirdwebEmulator } from '../../lab/thirdweb-emulator.ts';
import { openLive } from '../../support/live-client.ts';

const CONFIRMATIONS = 2;
const LIVE = { streams: 10, streamsPerClient: 10, remotePollMs: 50 };

const test = base
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads from the pattern which fixtures are used.
  .extend('chain', { scope: 'file' }, async ({}, { onCleanup }): Promise<TestPaymentChain> => {
    const chain = await startPaymentChain({ clock: systemClock });
    onCleanup(chain.stop);
    return chain;
  })
  /** The service whose answers the emulators convert. */
  .extend('indexed', { scope: 'file' }, async ({ chain }, { onCleanup }): Promise<TestDataService> => {
    const service = await startTestDataService([servedTestChain(chain.rpcUrl)], { rateLimitPerMinute: 1e9 });
    onCleanup(service.close);
    return service;
  });

/** A service whose only back end is one of another service. */
function serve(backend: ServedChain['backends'][number]): Promise<TestDataService> {
  const chain: ServedChain = {
    id: 31_337,
    name: 'Chain',
    native: { symbol: 'ETH', decimals: 18 },
    confirmations: CONFIRMATIONS,
    rpcUrls: [],
    abis: [],
    backends: [backend],
  };
  return startTestDataService([], { chains: [chain], live: LIVE });
}

describe.each(['v6.9', 'v12'] as const)('a stream of a Blockscout %s', generation => {
  test('follows heads, activity and a reorganisation', async ({ chain, indexed }) => {
    const abis: never[] = [];
    await using emulator = await startBlockscoutEmulator({ generation, serviceUrl: indexed.url, abis });
    await using service = await serve({ kind: 'blockscout', url: emulator.url, apiKey: undefined });
    const [, , , receiver = '', payee = ''] = chain.accounts;
    const pending = await chain.send({ from: 1, to: asAddress(receiver), value: 1n });
    const watches = [`address:${receiver}`, `token:${chain.token}`, `transaction:${pending.hash}`];
    await using stream = await openLive(service.url, `?watch=${watches.map(one => `31337:${one}`).join()}`);
    await stream.next({ event: 'head', block_number: await chain.head() });
    await stream.next({ state: 'pending', transaction_hash: pending.hash });
    const snapshot = await chain.snapshot();

    const paid = await chain.pay({ from: 2, to: payee, amount: 1n });
    await chain.mine();
    await stream.next({ state: 'included', watch: `31337:address:${receiver}` });
    await stream.next({ state: 'included', watch: `31337:transaction:${pending.hash}` });
    const token = await stream.next({ state: 'included', watch: `31337:token:${chain.token}` });
    await chain.fork(snapshot, 4, [pending.raw]);
    const removed = await stream.next({ state: 'removed', transaction_hash: paid });
    await stream.next({ state: 'final', watch: `31337:transaction:${pending.hash}` });

    expect(token.data).toMatchObject({ transaction_hash: paid });
    expect(removed.data).toEqual({ ...token.data, state: 'removed' });
    expect((await stream.next({ event: 'reorganisation' })).data).toMatchObject({
      first_block_number: Reflect.get(token.data, 'block_number'),
      removed_block_hashes: [Reflect.get(token.data, 'block_hash')],
    });
    expect(stream.events[0]?.data).toMatchObject({
      backends: [{ kind: 'blockscout', ready: true, head: expect.any(Number) }],
    });
  });

  test('takes the same requests for any number of listeners', async ({ chain, indexed }) => {
    const abis: never[] = [];
    await using emulator = await startBlockscoutEmulator({ generation, serviceUrl: indexed.url, abis });
    await using service = await serve({ kind: 'blockscout', url: emulator.url, apiKey: undefined });
    const query = `?watch=31337:address:${chain.accounts[5]}`;
    const streams = await Promise.all(Array.from({ length: 8 }, () => openLive(service.url, query)));
    await Promise.all(streams.map(stream => stream.next({ event: 'head' })));
    const lists = () => emulator.requests.filter(({ path }) => path.includes(String(chain.accounts[5])));

    await chain.mine();
    const number = await chain.head();
    await Promise.all(streams.map(stream => stream.next({ event: 'head', block_number: number })));
    const asked = lists().map(({ path }) => path.split('/').at(-1));
    for (const stream of streams) stream.close();
    await Promise.all(streams.map(({ ended }) => ended));
    await service.close();

    expect(asked.sort()).toEqual(['internal-transactions', 'token-transfers', 'transactions']);
  });
});

test('a stream of an Insight follows heads, transactions of an address, and transfers of a token', async ({
  chain,
  indexed,
}) => {
  await using emulator = await startThirdwebEmulator({ generation: '2025-10', serviceUrl: indexed.url });
  await using service = await serve({ kind: 'insight', url: emulator.url, clientId: undefined });
  const [, , , , , , receiver = '', payee = ''] = chain.accounts;
  const query = `?watch=31337:address:${receiver},31337:token:${chain.token}`;
  await using stream = await openLive(service.url, query);
  await stream.next({ event: 'head', block_number: await chain.head() });
  const snapshot = await chain.snapshot();

  const sent = await chain.send({ from: 1, to: asAddress(receiver), value: 1n });
  const paid = await chain.pay({ from: 2, to: payee, amount: 1n });
  await chain.mine();
  await stream.next({ state: 'included', transaction_hash: sent.hash, watch: `31337:address:${receiver}` });
  await stream.next({ state: 'included', transaction_hash: paid, watch: `31337:token:${chain.token}` });
  await chain.fork(snapshot, 3);
  await stream.next({ event: 'reorganisation' });

  await stream.next({ state: 'removed', transaction_hash: sent.hash });
  await stream.next({ state: 'removed', transaction_hash: paid });
});

test('a client that reconnects to a Blockscout is sent a reset only after a new block', async ({
  chain,
  indexed,
}) => {
  await using emulator = await startBlockscoutEmulator({
    generation: 'v12',
    serviceUrl: indexed.url,
    abis: [],
  });
  await using service = await serve({ kind: 'blockscout', url: emulator.url, apiKey: undefined });
  const query = `?watch=31337:address:${chain.accounts[5]}`;
  await using first = await openLive(service.url, query);
  const { id } = await first.next({ event: 'head', block_number: await chain.head() });

  await using same = await openLive(service.url, query, { 'Last-Event-ID': id });
  await same.next({ event: 'head' });
  await chain.mine();
  await first.next({ event: 'head', block_number: await chain.head() });
  await using later = await openLive(service.url, query, { 'Last-Event-ID': id });
  await later.next({ event: 'reset' });

  expect(same.events.filter(({ data }) => data.event === 'reset')).toEqual([]);
});

function asAddress(text: string): Address {
  return `0x${text.slice(2)}`;
}
