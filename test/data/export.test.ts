import { request } from 'undici';
import { describe, expect } from 'vitest';
import { world } from '../lab/instance-world.ts';
import { text } from '../lab/json.ts';
import type { Client } from '../support/contract-client.ts';
import { readCsv } from '../support/csv.ts';
import { exchange } from '../support/exchange.ts';
import { manualClock } from '../support/manual-clock.ts';
import { test } from '../support/served-devnet.ts';
import { type Item, itemOf, walk } from '../support/walk.ts';
import { has, hasFirst, KEY, one, type Respond, refuses, serve } from './http-failures-support.ts';

const EXPORT = '/explorer/export';
/** A forwarded client is counted and limited. */
const FORWARDED = { 'x-forwarded-for': '203.0.113.9' };

test.beforeAll(async ({ api, view }) => {
  await api.get(`/explorer/tokens/${view.contract('US Dollar Sample')}`);
});

const rowsOf = async (api: Client, target: string) =>
  readCsv((await api.get(`${EXPORT}/${target}`)).body).rows;

/** The address with the most token transfers in the latest page. */
async function busyAddress(api: Client): Promise<string> {
  const { items } = await walk(api, '/explorer/token-transfers');
  return text(itemOf(items.at(-1)?.to).hash);
}

describe('a file from an index', () => {
  test('has a row for each token transfer of an address, with both forms of the amount', async ({ api }) => {
    const address = await busyAddress(api);
    const { items } = await walk(api, `/explorer/addresses/${address}/token-transfers?type=ERC-20`);

    const rows = await rowsOf(api, `listAddressTokenTransfers?address_hash=${address}&type=ERC-20`);

    expect(items.length).toBeGreaterThan(0);
    expect(rows).toHaveLength(items.length);
    for (const [at, row] of rows.entries()) {
      const item: Item = items[at] ?? {};
      const { value, decimals } = itemOf(item.total);
      expect(row).toMatchObject({
        transaction_hash: item.transaction_hash,
        timestamp: item.timestamp,
        from: itemOf(item.from).hash,
        to: itemOf(item.to).hash,
        amount_raw: value,
        token_symbol: itemOf(item.token).symbol,
        token_decimals: decimals,
      });
      const [whole = '', fraction = ''] = (row.amount ?? '').split('.');
      expect(BigInt(whole + fraction.padEnd(Number(decimals), '0'))).toBe(BigInt(text(value)));
    }
  });

  test('has the coins and fees of transactions, and is named for what it holds', async ({ api }) => {
    const { items } = await walk(api, '/explorer/transactions');

    const { status, body, headers } = await api.get(`${EXPORT}/listTransactions`);

    const { rows, note } = readCsv(body);
    expect(status).toBe(200);
    expect(note).toBeUndefined();
    expect(rows.map(row => [row.transaction_hash, row.value_raw, row.fee_raw])).toEqual(
      items.map(({ hash, value, fee }) => [hash, value, itemOf(fee).value]),
    );
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toBe('attachment; filename="transactions-31337.csv"');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('etag')).toBeNull();
    expect(headers.get('x-backend')).toBe('index-31337');
  });

  test('has balances of holders in whole units of their token', async ({ api, view }) => {
    const address = view.contract('US Dollar Sample');

    const [row] = await rowsOf(api, `listTokenHolders?address_hash=${address}`);

    expect(row?.balance_raw).toMatch(/^\d+$/);
    expect(Number(row?.balance) * 1e6).toBeCloseTo(Number(row?.balance_raw), 0);
  });

  test('obeys the filters of its list', async ({ api }) => {
    const { items } = await walk(api, '/explorer/tokens?type=ERC-721,ERC-1155');

    const rows = await rowsOf(api, 'listTokens?type=ERC-721,ERC-1155');

    expect(items.length).toBeGreaterThan(0);
    expect(rows.map(row => row.token_address)).toEqual(items.map(({ address }) => address));
  });

  test('has the records of a period only', async ({ api }) => {
    const { items } = await walk(api, '/explorer/blocks');
    const [from, to] = [text(items[45]?.timestamp), text(items[5]?.timestamp)];
    const within = items.filter(({ timestamp }) => text(timestamp) >= from && text(timestamp) < to);

    const rows = await rowsOf(api, `listBlocks?from=${from}&to=${to.replace('Z', '%2B00:00')}`);

    expect(rows.map(row => row.block_hash)).toEqual(within.map(({ hash }) => hash));
    expect(rows.length).toBeGreaterThan(30);
  });

  test('begins where a cursor says', async ({ api }) => {
    const { items } = await walk(api, '/explorer/blocks');
    const first = itemOf((await api.get('/explorer/blocks')).body);

    const rows = await rowsOf(api, `listBlocks?cursor=${text(itemOf(first.next_page_params).cursor)}`);

    expect(rows.map(row => row.block_hash)).toEqual(items.slice(50).map(({ hash }) => hash));
  });

  test('is not made for HEAD, which has the same headers', async ({ api, service }) => {
    const { headers } = await api.get(`${EXPORT}/listBlocks`);

    const head = await exchange(`${service.url}${EXPORT}/listBlocks`, { method: 'HEAD' });

    expect([head.status, head.text]).toEqual([200, '']);
    for (const name of ['content-type', 'content-disposition', 'x-backend', 'x-chain-id'])
      expect(head.headers.get(name), name).toBe(headers.get(name));
  });

  test.for([
    ['listNothing', /^list: /],
    ['listAddressTransactions', /^address_hash: is required for listAddressTransactions$/],
    ['listAddressTransactions?address_hash=0x12', /^address_hash: /],
    ['listTransactions?filter=to', /^filter: /],
    ['listTransactions?type=ERC-20', /^type/],
    ['listTokens?from=2026-01-01', /^from: is refused: this list has no times$/],
    ['listBlocks?to=2026-02-31T10', /^to: must be /],
    ['listBlocks?to=2026-13-01', /^to: must be a date that exists$/],
    ['listBlocks?cursor=abc', /^cursor: /],
    ['listBlocks?chain_id=5', /^chain_id: /],
  ] as const)('is refused for %s', async ([target, message], { api }) => {
    const { status, body } = await api.get(`${EXPORT}/${target}`);

    expect([status, itemOf(body).message]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('a file from a Blockscout', () => {
  const CRASHES: Respond = request =>
    request.query.has('block_number') ? refuses(500)(request) : hasFirst(request);
  const many = world({ chainId: 1, head: 10_400, apiKey: KEY });
  const long: Respond = ({ path, query }) => many.answer(path, query);

  test('is of one back end, and a failure in the middle breaks the connection', async () => {
    await using served = await serve([[CRASHES, hasFirst], [has]]);

    const { statusCode, body } = await request(`${served.url}${EXPORT}/listBlocks?chain_id=1`);

    expect(statusCode).toBe(200);
    await expect(body.text()).rejects.toThrow();
    expect(served.asked()).not.toContain('1b');
  });

  test('has the status of its first page', async () => {
    await using served = await serve([[refuses(503)]]);

    const { status } = await served.get(`${EXPORT}/listBlocks`);

    expect(status).toBe(502);
  });

  test('takes the next back end when the first one fails at the beginning', async () => {
    await using served = await serve([[refuses(503), hasFirst]]);

    const { body, headers } = await served.get(`${EXPORT}/listTransactions`);

    expect(headers.get('x-backend')).toBe('blockscout-1-2');
    expect(readCsv(body).rows.map(row => row.transaction_hash)).toEqual(one.transactions.toReversed());
  });

  test('says in its last row that 10,000 records are not all, and the next file has the rest', async () => {
    await using served = await serve([[long]]);

    const first = readCsv((await served.get(`${EXPORT}/listBlocks`)).body);
    const cursor = /^More records follow\. Continue with cursor=([\w-]+)$/.exec(first.note ?? '')?.[1] ?? '';
    const second = readCsv((await served.get(`${EXPORT}/listBlocks?cursor=${cursor}`)).body);

    expect(first.rows).toHaveLength(10_000);
    expect(second.note).toBeUndefined();
    expect([...first.rows, ...second.rows].map(row => Number(row.block_number))).toEqual(
      Array.from({ length: 10_401 }, (_, at) => 10_400 - at),
    );
  });

  test('writes names of strangers as text, and no amount with absurd decimals', async () => {
    const names = [
      '=HYPERLINK("http://evil.example")',
      '@SUM(A1)',
      'a,"b"\r\nc',
      '\u202egnp.DSU',
      '\t+1',
      'X;=1+1',
      'a;"-1"',
      'W'.repeat(500),
    ];
    const tokens = names.map((name, at) => ({
      address: `0x${String(at + 1).repeat(40)}`,
      name,
      symbol: '-1+1',
      decimals: at === 0 ? '255' : '6',
      type: 'ERC-20',
      holders: '1',
      total_supply: '1234567',
      exchange_rate: null,
      icon_url: null,
      circulating_market_cap: null,
    }));
    await using served = await serve([[() => ({ json: { items: tokens, next_page_params: null } })]]);

    const { rows } = readCsv((await served.get(`${EXPORT}/listTokens`)).body);

    expect(rows.map(row => row.token_name)).toEqual([
      `'=HYPERLINK("http://evil.example")`,
      "'@SUM(A1)",
      'a,"b" c',
      'gnp.DSU',
      "'+1",
      "X;'=1+1",
      `a;'"-1"`,
      'W'.repeat(500),
    ]);
    expect(rows.map(row => row.token_symbol)).toEqual(names.map(() => "'-1+1"));
    expect(rows.map(row => [row.total_supply, row.total_supply_raw])).toEqual([
      ['', '1234567'],
      ...names.slice(1).map(() => ['1.234567', '1234567']),
    ]);
  });

  test('waits while two of a client are running, and ends with a client that leaves', async () => {
    const silent: Respond = requested =>
      requested.query.has('block_number') ? 'silence' : hasFirst(requested);
    await using served = await serve([[silent]], { trustedProxies: ['127.0.0.1'] });
    const begin = () => request(`${served.url}${EXPORT}/listBlocks`, { headers: FORWARDED });

    const running = [await begin(), await begin()];
    const refused = await exchange(`${served.url}${EXPORT}/listBlocks`, { headers: FORWARDED });
    for (const { body } of running) {
      body.on('error', () => undefined);
      body.destroy();
    }

    expect(running.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('10');
    await expect
      .poll(async () => {
        const { statusCode, body } = await begin();
        body.on('error', () => undefined);
        body.destroy();
        return statusCode;
      })
      .toBe(200);
  });

  test('breaks the connection when its last page takes too long', async () => {
    const clock = manualClock();
    const silent: Respond = requested =>
      requested.query.has('block_number') ? 'silence' : hasFirst(requested);
    await using served = await serve([[silent]], { clock });

    const { statusCode, body } = await request(`${served.url}${EXPORT}/listBlocks`);
    clock.advance(90_000);

    expect(statusCode).toBe(200);
    await expect(body.text()).rejects.toThrow();
  });
});
