import { afterAll, beforeEach, expect, test } from 'vitest';
import { type CursorPosition, encodeCursor } from '../../src/data/backends/port/cursor.ts';
import { record, text } from '../lab/json.ts';
import { has, hasFirst, one, type Respond, refuses, serve } from './http-failures-support.ts';

/** True while the first back end of chain 1 is out. */
let isOut = false;
const mayBeOut: Respond = request => (isOut ? refuses(503)(request) : hasFirst(request));
const served = await serve([[mayBeOut, hasFirst], [has]]);
const alone = await serve([[mayBeOut], [has]]);

beforeEach(() => {
  isOut = false;
  served.asked();
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await alone[Symbol.asyncDispose]();
});

const ADDRESS = `/explorer/addresses/0x${'1'.repeat(40)}`;

function queryOf(keys: object): string {
  return Object.entries(keys)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

function cursorOf(backend: string, operation: string, position: CursorPosition): string {
  return encodeCursor({ backend, chainId: 1, position: { '@list': operation, ...position } });
}

test.each([
  ['transactions', 'hash', one.transactions.length],
  ['blocks', 'height', 101],
])('a walk over %s visits every item once although its back end fails half-way', async (list, key, count) => {
  const seen: unknown[] = [];
  let query = 'chain_id=1';
  for (let pages = 0; pages < 30; pages += 1) {
    const { status, body, headers } = await served.get(`/explorer/${list}?${query}`);
    expect(status).toBe(200);
    expect(headers.get('x-backend')).toBe(isOut ? 'blockscout-1-2' : 'blockscout-1');
    const page = record(body);
    if (Array.isArray(page.items)) seen.push(...page.items.map(item => record(item)[key]));
    if (page.next_page_params === null) break;
    query = queryOf(record(page.next_page_params));
    isOut = true;
  }

  expect(new Set(seen).size).toBe(count);
  expect(seen).toHaveLength(count);
});

test('a cursor without the other keys is a 502 with advice, and no other back end is asked', async () => {
  const first = await served.get('/explorer/transactions');
  const { cursor } = record(record(first.body).next_page_params);
  isOut = true;
  served.asked();

  const { status, body } = await served.get(`/explorer/transactions?cursor=${text(cursor)}`);

  expect(status).toBe(502);
  expect(record(body).message).toMatch(
    /Another back end has this list: send all keys of next_page_params, or begin again$/,
  );
  expect(served.asked()).toEqual(['1a']);
});

test('positions inside a batch are read only by the back end that wrote them', async () => {
  const position = { block_number: 5, index: 2, batch_log_index: 2, index_in_batch: 1 };
  const keys = {
    ...position,
    batch_block_hash: `0x${'a'.repeat(64)}`,
    batch_transaction_hash: `0x${'b'.repeat(64)}`,
  };
  const cursor = cursorOf('blockscout-1', 'listTokenTransfers', position);
  isOut = true;

  const { status, body } = await served.get(`/explorer/token-transfers?${queryOf({ ...keys, cursor })}`);

  expect(status).toBe(502);
  expect(record(body).message).toContain('send all keys of next_page_params');
});

test('a list with back-end-specific positions can only be restarted', async () => {
  const keys = { id: 5, fiat_value: 'null', value: '1' };
  const cursor = cursorOf('blockscout-1', 'listAddressTokens', { id: 5 });
  isOut = true;

  const { status, body } = await served.get(`${ADDRESS}/tokens?${queryOf({ ...keys, cursor })}`);

  expect(status).toBe(502);
  expect(record(body).message).toMatch(/Another back end has this list: begin again$/);
});

test('where no other back end has the list, the error does not mention one', async () => {
  const cursor = cursorOf('blockscout-1', 'listBlocks', { block_number: 50 });
  isOut = true;

  const { status, body } = await alone.get(`/explorer/blocks?block_number=50&cursor=${cursor}`);

  expect(status).toBe(502);
  expect(record(body).message).not.toContain('Another back end');
  expect(alone.asked()).toEqual(['1a']);
});

test('a cursor of a removed back end continues by the other keys, and alone is a 400', async () => {
  const cursor = cursorOf('blockscout-9', 'listBlocks', { block_number: 50 });

  const goesOn = await served.get(`/explorer/blocks?block_number=50&cursor=${cursor}`);
  const isRefused = await served.get(`/explorer/blocks?cursor=${cursor}`);

  expect(record(goesOn.body).items).toContainEqual(expect.objectContaining({ height: 49 }));
  expect(isRefused.status).toBe(400);
});

test('an available back end is asked by its own position, and its refusal of a cursor is final', async () => {
  const cursor = cursorOf('blockscout-1', 'listTransactions', { block_number: 50, index: 0 });

  const { status } = await served.get(`/explorer/blocks?block_number=50&cursor=${cursor}`);

  expect(status).toBe(400);
  expect(served.asked()).toEqual([]);
});
