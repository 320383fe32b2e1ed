import type { Address } from 'viem';
import { expect, test } from 'vitest';
import type { DatabaseOptions } from '#db/open.ts';
import { systemClock } from '#lib/clock.ts';
import { servedTestChain } from '../../indexer/support.ts';
import { indexIn, servedChain, startTestDataService } from '../../lab/data-service.ts';
import { startPaymentChain } from '../../lab/payment-chain.ts';
import { bothDatabases } from '../../support/databases.ts';
import { openLive } from '../../support/live-client.ts';

bothDatabases('two services over one index', databases => {
  test('send the same events, and ask for a reload after a reorganisation that they have not seen', async () => {
    await using chain = await startPaymentChain({ clock: systemClock });
    await using services = new AsyncDisposableStack();
    const database = await databases.create('index');
    const serve = async (options: DatabaseOptions) => {
      const served = { ...servedChain(servedTestChain(chain.rpcUrl), ''), backends: [indexIn(options)] };
      return services.use(await startTestDataService([], { chains: [served] }));
    };
    const [writer, follower] = [await serve(database), await serve(database)];
    const [, , , , , , , receiver = ''] = chain.accounts;
    const unknown = `0x${'ab'.repeat(32)}`;
    const query = `?watch=31337:address:${receiver},31337:transaction:${unknown}`;
    await using first = await openLive(writer.url, query);
    await using second = await openLive(follower.url, query);
    await Promise.all([first, second].map(stream => stream.next({ event: 'head' })));
    const snapshot = await chain.snapshot();
    const { hash } = await chain.send({ from: 1, to: asAddress(receiver), value: 1n });
    await chain.mine();
    const included = await Promise.all(
      [first, second].map(stream => stream.next({ event: 'activity', transaction_hash: hash })),
    );
    const { id } = await second.next({ event: 'head', block_number: await chain.head() });

    await chain.fork(snapshot, 3);
    const removed = await Promise.all(
      [first, second].map(stream => stream.next({ event: 'activity', state: 'removed' })),
    );
    const unaware = await serve(database);
    await using again = await openLive(unaware.url, query, { 'Last-Event-ID': id });
    await using other = await openLive(unaware.url, `?watch=31337:transaction:${unknown}`, {
      'Last-Event-ID': id,
    });

    expect(included[0]?.data).toEqual(included[1]?.data);
    expect(removed[0]?.data).toEqual(removed[1]?.data);
    await again.next({ event: 'reset' });
    // Without an address, nothing is unknown: the state of a transaction is asked for.
    await other.next({ event: 'reorganisation' });
    await other.next({ event: 'activity', state: 'removed', transaction_hash: unknown });
    expect(other.events.filter(({ data }) => data.event === 'reset')).toEqual([]);
  });
});

function asAddress(text: string): Address {
  return `0x${text.slice(2)}`;
}
