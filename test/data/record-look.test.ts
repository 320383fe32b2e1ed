import { describe, expect, vi } from 'vitest';
import type { PageRecord } from '../../src/data/pages/page-kinds.ts';
import { recordLook } from '../../src/data/pages/record-look.ts';
import { HttpError } from '../../src/http/errors.ts';
import { test } from '../support/served-devnet.ts';

const BROWSER = { headers: { Accept: 'text/html,*/*;q=0.8' } };

test.beforeAll(async ({ service }) => void (await fetch(service.url)));

test('a page of a missing record is a 404, one of an existing record a 200', async ({
  service,
  chain,
  view,
}) => {
  const base = `${service.url}/chain/${chain.id}`;
  const hash = view.transactions.at(-1)?.hash ?? '';
  const [token] = chain.tokens;
  const statusOf = async (path: string) => (await fetch(base + path, BROWSER)).status;

  const statuses = {
    transaction: [await statusOf(`/tx/${hash}`), await statusOf(`/tx/0x${'1'.repeat(64)}`)],
    block: [await statusOf('/block/1'), await statusOf('/block/99999999')],
    token: [await statusOf(`/token/${token?.address}`), await statusOf(`/token/0x${'1'.repeat(40)}`)],
    program: (await fetch(`${base}/tx/0x${'1'.repeat(64)}`)).status,
  };

  expect(statuses).toEqual({ transaction: [200, 404], block: [200, 404], token: [200, 404], program: 200 });
});

describe('the look for a record', () => {
  const record = (id: string): PageRecord => ({ operation: 'getBlock', chainId: 1, id, contract: undefined });
  const missing = async (): Promise<never> => {
    throw new HttpError(404, 'Not found');
  };

  function lookWith(getBlock: () => Promise<never>) {
    const ask = vi.fn(getBlock);
    const operations = {
      getTransaction: ask,
      getBlock: ask,
      getAddress: ask,
      getToken: ask,
      getTokenInstance: ask,
    };
    let now = 0;
    return { look: recordLook(operations, () => now), ask, advance: (ms: number) => (now += ms) };
  }

  test('remembers that a record is missing', async () => {
    const { look, ask } = lookWith(missing);

    expect([await look(record('1')), await look(record('1'))]).toEqual([true, true]);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  test('takes another failure for a record that may exist', async () => {
    const { look } = lookWith(async () => {
      throw new HttpError(503, 'Not now');
    });

    expect(await look(record('1'))).toBe(false);
  });

  test('asks at most ten times per second', async () => {
    const { look, ask, advance } = lookWith(missing);

    for (let id = 0; id < 20; id += 1) await look(record(String(id)));
    const inFirst = ask.mock.calls.length;
    advance(1_000);
    await look(record('30'));

    expect([inFirst, ask.mock.calls.length]).toEqual([10, 11]);
  });

  test('waits for a quarter of a second, and for four records at once', async () => {
    const { look, ask } = lookWith(() => new Promise<never>(() => {}));

    const looks = await Promise.all(Array.from({ length: 6 }, (_, id) => look(record(String(id)))));

    expect([looks, ask.mock.calls.length]).toEqual([Array(6).fill(false), 4]);
  });
});
