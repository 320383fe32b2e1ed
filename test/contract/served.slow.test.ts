import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { explorerContract } from '../../src/contract/contracts/explorer.ts';
import { isEventStream } from '../../src/contract/contracts/operations.ts';
import type { TestDataService } from '../lab/data-service.ts';
import type { TestDevnet } from '../lab/devnet.ts';
import { client } from '../support/contract-client.ts';
import { rawGet, rawRequest } from '../support/raw-request.ts';
import { test } from '../support/served-devnet.ts';
import { invalidRequest, validRequest } from './requests.ts';

let devnet: TestDevnet;
let service: TestDataService;
let known: Record<string, string[]>;

test.beforeAll(async ({ devnet: shared, serviceOfBoth }) => {
  [devnet, service] = [shared, serviceOfBoth];
  const { body } = await client(service.url).get('/explorer/transactions');
  const text = JSON.stringify(body);
  known = {
    transaction_hash: [...text.matchAll(/"hash":"(0x[0-9a-f]{64})"/g)]
      .slice(0, 5)
      .map(([, hash = '']) => hash),
    block_number_or_hash: ['0', '1', '40', '45'],
    address_hash: [...text.matchAll(/"hash":"(0x[0-9a-fA-F]{40})"/g)]
      .slice(0, 8)
      .map(([, hash = '']) => hash),
    id: ['0', '1', '2'],
    chain_id: devnet.chains.map(chain => String(chain.id)),
  };
});

const { document } = explorerContract;
const operations = Object.values(explorerContract.table);
const RUNS = 25;

describe.each(operations.map(row => row.id))('%s', id => {
  const [row] = operations.filter(one => one.id === id);
  if (row === undefined) throw new Error(`${id} is not in the table`);

  test.skipIf(isEventStream(row))(
    'answers 200 or 404 to valid parameters, with a body of the contract',
    async () => {
      const { get } = client(service.url);
      await fc.assert(
        fc.asyncProperty(validRequest(row, { document, known, only: ['chain_id'] }), async path => {
          const { status, body } = await get(path);
          if (status !== 200 && status !== 404)
            throw new Error(`${path} → ${status} ${JSON.stringify(body)}`);
        }),
        { numRuns: RUNS },
      );
    },
  );

  test('answers 400 to an out-of-range parameter, and names it', async () => {
    const { get } = client(service.url);
    await fc.assert(
      fc.asyncProperty(invalidRequest(row, { document, known }), async ({ path, name }) => {
        const { status, body } = await get(path);
        const text = JSON.stringify(body);
        if (status !== 400 || !text.startsWith(`{"message":"${name}: `))
          throw new Error(`${path} → ${status} ${text}`);
      }),
      { numRuns: RUNS },
    );
  });
});

const HASH = `0x${'a'.repeat(64)}`;

describe('bad input', () => {
  test.each<[string, string, number, RegExp]>([
    [
      'a hash that is not hex',
      `/explorer/transactions/0x${'g'.repeat(64)}`,
      400,
      /transaction_hash: must be 0x followed by 64 hexadecimal digits/,
    ],
    ['a hash with a digit too few', `/explorer/transactions/${HASH.slice(0, -1)}`, 400, /transaction_hash/],
    ['a hash with a digit too many', `/explorer/transactions/${HASH}0`, 400, /transaction_hash/],
    ['a hash without 0x', `/explorer/transactions/${HASH.slice(2)}`, 400, /transaction_hash/],
    ['a hash with a line break', `/explorer/transactions/${HASH}%0a`, 400, /transaction_hash/],
    ['other digits', '/explorer/blocks/%D9%A1%D9%A2', 400, /block_number_or_hash/],
    ['a block beyond 2^63', '/explorer/blocks/9223372036854775808', 400, /block_number_or_hash/],
    ['a block of eighteen digits', '/explorer/blocks/999999999999999999', 404, /not found/],
    ['its transactions', '/explorer/blocks/999999999999999999/transactions', 404, /not found/],
    [
      'a negative block',
      '/explorer/blocks/-1',
      400,
      /block_number_or_hash: must be a block number .*, or 0x followed/,
    ],
    ['1e3', '/explorer/blocks/1e3', 400, /block_number_or_hash/],
    ['a block in hex', '/explorer/blocks/0x10', 400, /block_number_or_hash/],
    ['leading zeros', '/explorer/blocks/007', 400, /block_number_or_hash/],
    [
      'an unknown filter value',
      '/explorer/transactions?filter=nonsense',
      400,
      /filter: must be one of pending/,
    ],
    ['an unknown kind', '/explorer/transactions?type=coin_transfer,x', 400, /type: value 2 must be one of/],
    ['commas only', '/explorer/transactions?type=,,,', 400, /type: value 1/],
    ['an empty value', '/explorer/transactions?type=', 400, /type: value 1/],
    ['a blank after a comma', '/explorer/transactions?method=a,%20b', 400, /method: value 2/],
    [
      'a repeated parameter',
      '/explorer/transactions?filter=pending&filter=pending',
      400,
      /filter: must be given once/,
    ],
    [
      'an unknown kind in a repetition',
      '/explorer/transactions?type=coin_transfer&type=x',
      400,
      /type: value 2 must be one of/,
    ],
    [
      'a list that is long by repetition',
      `/explorer/transactions?${'method=a,a,a&'.repeat(17)}`,
      400,
      /method: must have at most 50 items/,
    ],
    ['an unknown chain', '/explorer/blocks?chain_id=7', 400, /chain_id: must be one of .*31337, 31338/],
    ['a chain of 2^53', '/explorer/blocks?chain_id=9007199254740992', 400, /chain_id: must be an integer/],
    [
      'a long list',
      `/explorer/transactions?method=${'a,'.repeat(60)}a`,
      400,
      /method: must have at most 50 items/,
    ],
    [
      'a query string of 10 kB',
      `/explorer/transactions?cursor=${'a'.repeat(10_240)}`,
      400,
      /cursor: must be a cursor from next_page_params.*at most 4096 characters/,
    ],
    ['a target of 40 kB', `/explorer/transactions?cursor=${'a'.repeat(40_960)}`, 431, /too long/],
    ['%00 in a path', '/explorer/blocks/%00', 400, /NUL/],
    ['%00 in a query', '/explorer/transactions?filter=%00', 400, /NUL/],
    ['%zz in a path', '/explorer/blocks/%zz', 400, /percent escape/],
    ['%zz in a query', '/explorer/transactions?unknown=%zz', 400, /percent escape/],
    ['half a character', '/explorer/blocks/%C3', 400, /percent escape/],
    ['..%2f', '/explorer/blocks/..%2f..%2fetc%2fpasswd', 400, /block_number_or_hash/],
    ['../', '/explorer/blocks/../../etc/passwd', 404, /Not found/],
    ['an invalid path', '/explorer/nothing', 404, /Not found/],
    ['an empty segment', '/explorer/blocks//transactions', 404, /Not found/],
    ['an absolute-form target of another scheme', 'ftp://example.org/explorer/blocks', 400, /must be a path/],
    ['an authority-form target', 'example.org:80', 400, /not valid HTTP/],
    ['an asterisk', '*', 400, /must be a path/],
    ['a fragment', '/explorer/blocks#a', 400, /must be a path/],
  ])('%s is refused', async (_name, target, status, message) => {
    const answer = await rawGet(service.url, target);

    expect([answer.status, answer.body]).toEqual([status, expect.stringMatching(message)]);
    expect(JSON.parse(answer.body)).toEqual({ message: expect.any(String) });
    expect(answer.head).toMatch(/Cache-Control: no-store/i);
  });

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND'])(
    '%s is a 405 with Allow',
    async method => {
      const answer = await rawGet(service.url, '/explorer/transactions', method);

      expect(answer.status).toBe(405);
      expect(answer.head).toMatch(/^Allow: GET, HEAD\r?$/im);
      expect(JSON.parse(answer.body)).toEqual({ message: `${method} is not allowed here` });
    },
  );

  test.each([
    ['a raw NUL byte', 'GET /explorer/blocks/\0 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a raw byte beyond ASCII', 'GET /explorer/blocks/\xff HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
    ['an unknown method', 'NONSENSE /explorer/blocks HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no host', 'GET /explorer/blocks HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['no HTTP at all', 'hello\r\n\r\n'],
  ])('%s is a 400', async (_name, request) => {
    const answer = await rawRequest(service.url, request);

    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body)).toEqual({ message: expect.any(String) });
  });
});

describe('the service', () => {
  test('ignores undeclared parameters: same answer, same cache entry', async () => {
    const { get } = client(service.url);
    await get('/explorer/blocks/5');

    const answer = await get('/explorer/blocks/5?utm_source=x&apikey=y');

    expect(answer.headers.get('x-cache')).toBe('HIT');
  });

  test('reads a token id with an exponent as the same id', async () => {
    const { get } = client(service.url);
    const token = devnet.chains[0]?.contracts.find(({ name }) => name === 'Postcards')?.address;
    const digits = await get(`/explorer/tokens/${token}/instances/1`);

    const exponent = await get(`/explorer/tokens/${token}/instances/1e+0`);
    const large = await get(`/explorer/tokens/${token}/instances/1.5e+21`);
    const huge = await get(`/explorer/tokens/${token}/instances/1e999999999`);

    expect([exponent.status, exponent.headers.get('x-cache')]).toEqual([200, 'HIT']);
    expect(exponent.body).toEqual(digits.body);
    expect([large.status, huge.status]).toEqual([404, 400]);
  });

  test('answers 304 to a client with the current tag, with the headers of the 200', async () => {
    const { get } = client(service.url);
    const held = await get('/explorer/blocks/6');
    const etag = held.headers.get('etag') ?? '';

    const again = await get('/explorer/blocks/6', { 'if-none-match': etag });

    expect([again.status, again.body]).toEqual([304, undefined]);
    expect(again.headers.get('etag')).toBe(etag);
    expect(again.headers.get('x-cache')).toBe('HIT');
  });

  test('answers from the requested chain, and finds a hash on any chain', async () => {
    const { get } = client(service.url);
    const there = await get('/explorer/blocks?chain_id=31338');
    const [, hash] = /"hash":"(0x[0-9a-f]{64})"/.exec(JSON.stringify(there.body)) ?? [];

    const found = await get(`/explorer/blocks/${hash}`);
    const wrong = await get(`/explorer/blocks/${hash}?chain_id=31337`);

    expect(there.headers.get('x-chain-id')).toBe('31338');
    expect([found.status, found.headers.get('x-chain-id')]).toEqual([200, '31338']);
    expect(wrong.status).toBe(404);
  });
});
