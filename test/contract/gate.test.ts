import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { paymentsError, paymentsErrorBody } from '../../src/contract/contracts/payments-errors.ts';
import { mountGated } from '../../src/contract/mount/mount.ts';
import type {
  Gate,
  GateResponse,
  IncomingRequest,
  KeyedRequest,
} from '../../src/contract/mount/request-gate.ts';
import { type Served, serve } from '../http/serve.ts';
import { type GatedOperations, type GatedPublic, gatedContract } from '../support/gated-contract.ts';
import { rawRequest } from '../support/raw-request.ts';

interface Known {
  readonly name: string;
  readonly role: string;
  readonly replayed?: string;
}
interface Visitor {
  readonly address: string;
}

let served: Served;
let steps: string[];
let requests: unknown[];
let attempts: KeyedRequest[];
let remembered: Map<string, { body: string; answer: GateResponse }>;

const gate: Gate<Known, Visitor> = {
  async authenticate({ headers, operation }: IncomingRequest) {
    steps.push(`authenticate ${operation.id}`);
    const key = headers['x-api-key'];
    if (key === undefined) throw paymentsError('key_missing', 'Send a key.');
    if (key === 'broken') throw new Error('the database is gone');
    if (key !== 'read' && key !== 'write') throw paymentsError('key_invalid', 'This key does not exist.');
    return { name: 'ada', role: key };
  },
  async visit({ client }) {
    steps.push('visit');
    return { address: client.address };
  },
  async admit(_, { headers }) {
    steps.push('admit');
    if (headers['x-flood'] !== undefined) {
      throw paymentsError('rate_limit_exceeded', 'Retry after 7 seconds.', {
        headers: { 'Retry-After': '7' },
      });
    }
    return { 'X-RateLimit-Remaining': '119' };
  },
  permit({ role }, roles) {
    steps.push(`permit ${roles.join()}`);
    if (!roles.includes(role) && role !== 'write') {
      throw paymentsError('insufficient_permissions', `This needs '${roles.join()}'.`);
    }
  },
  async replay(caller, attempt, proceed) {
    steps.push('replay');
    attempts.push(attempt);
    const body = attempt.body.toString();
    const before = remembered.get(attempt.key);
    if (before === undefined) {
      const answer = await proceed({ ...caller, replayed: attempt.key });
      remembered.set(attempt.key, { body, answer });
      return answer;
    }
    if (before.body !== body) throw paymentsError('idempotency_conflict', 'Another request has this key.');
    return { ...before.answer, headers: { 'Idempotent-Replayed': 'true' } };
  },
};

beforeEach(async () => {
  steps = [];
  requests = [];
  attempts = [];
  remembered = new Map();
  const seen = (request: unknown, caller: unknown) => {
    steps.push('handle');
    requests.push({ request, caller });
  };
  const route = await mountGated<GatedOperations, GatedPublic, Known, Visitor>({
    contract: gatedContract,
    gate,
    validateResponses: true,
    handlers: {
      createNote: async (request, caller) => {
        seen(request, caller);
        return { status: 201, body: { id: 'a', text: request.body.text } };
      },
      changeNote: async (request, caller) => {
        seen(request, caller);
        return { status: 200, body: { id: request.path.id, text: request.body.text ?? '' } };
      },
      getNote: async (request, caller) => {
        seen(request, caller);
        if (request.path.id === 'gone') throw paymentsError('resource_not_found', "No note with id 'gone'.");
        return { status: 200, body: { id: request.path.id, text: caller.name } };
      },
      exportNotes: async (request, caller) => {
        seen(request, caller);
        return { status: 200, body: 'id,text\r\na,"1,2"\r\n' };
      },
      openNote: async (request, caller) => {
        seen(request, caller);
        return { status: 201, body: { id: 'open', text: request.body.text ?? caller.address } };
      },
    },
  });
  served = await serve([route], { formatError: paymentsErrorBody });
});
afterEach(() => served.close(0));

interface Sent {
  key?: string;
  body?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
}

async function send(method: string, path: string, { key, body, headers = {} }: Sent = {}) {
  const answer = await fetch(served.url + path, {
    method,
    headers: {
      ...(key === undefined ? {} : { 'x-api-key': key }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true && text !== '';
  const value: unknown = isJson ? JSON.parse(text) : text;
  return { status: answer.status, headers: answer.headers, body: value };
}

const create = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  send('POST', '/notes', { key: 'write', body, headers });

/** The client's view of an error, with any message. */
const error = (type: string, code: string, param?: string) => ({
  error: { type, code, message: expect.any(String), ...(param === undefined ? {} : { param }) },
});
const invalid = (param?: string, code = 'invalid_field_value') => error('invalid_request_error', code, param);

describe('the order of checks', () => {
  test('a request passes key, rate limit, permission, idempotency and handler in this order', async () => {
    const answer = await create('{"text":"x"}', { 'idempotency-key': 'k' });

    expect(answer.status).toBe(201);
    expect(steps).toEqual(['authenticate createNote', 'admit', 'permit write', 'replay', 'handle']);
  });

  test.each<[string, string, string, Sent, number, object]>([
    [
      'an unknown path, without a key',
      'POST',
      '/nothing',
      {},
      404,
      error('not_found_error', 'resource_not_found'),
    ],
    [
      'an unknown method, without a key',
      'PUT',
      '/notes',
      {},
      404,
      error('not_found_error', 'resource_not_found'),
    ],
    [
      'no key, too many requests',
      'POST',
      '/notes',
      { headers: { 'x-flood': '1' } },
      401,
      error('authentication_error', 'key_missing'),
    ],
    [
      'too many requests, no permission',
      'POST',
      '/notes',
      { key: 'read', headers: { 'x-flood': '1' } },
      429,
      error('rate_limit_error', 'rate_limit_exceeded'),
    ],
    [
      'no permission, a bad idempotency key',
      'POST',
      '/notes',
      { key: 'read', headers: { 'idempotency-key': 'a b' } },
      403,
      error('permission_error', 'insufficient_permissions'),
    ],
    [
      'a bad idempotency key, a bad body',
      'POST',
      '/notes',
      { key: 'write', body: '{', headers: { 'idempotency-key': 'a b' } },
      400,
      invalid('Idempotency-Key'),
    ],
    ['a bad path, a missing field', 'PATCH', '/notes/NOT', { key: 'write', body: '{}' }, 400, invalid('id')],
    [
      'a missing record',
      'GET',
      '/notes/gone',
      { key: 'read' },
      404,
      error('not_found_error', 'resource_not_found'),
    ],
  ])('%s: the first failed check gives the answer', async (_name, method, path, sent, status, body) => {
    const answer = await send(method, path, sent);

    expect([answer.status, answer.body]).toEqual([status, body]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    if (path !== '/notes/gone') expect(requests).toEqual([]);
  });

  test('a failure while a key is checked is a 500, not a refusal of the key', async () => {
    const answer = await send('POST', '/notes', { key: 'broken', body: '{"text":"x"}' });

    expect([answer.status, answer.body]).toEqual([500, error('api_error', 'internal_error')]);
    expect(steps).toEqual(['authenticate createNote']);
  });

  test('an unknown method is answered with the allowed ones', async () => {
    const answer = await send('DELETE', '/notes/a');

    expect(answer.headers.get('allow')).toBe('GET, HEAD, PATCH');
  });

  test('an operation without security is visited and counted, and needs no key or permission', async () => {
    const answer = await send('POST', '/open/notes', { key: 'wrong' });

    expect([answer.status, answer.body]).toEqual([201, { id: 'open', text: '127.0.0.1' }]);
    expect(steps).toEqual(['visit', 'admit', 'handle']);
  });

  test('rate limit headers are on answers, and on errors of later checks', async () => {
    const statuses = [
      await send('GET', '/notes/a', { key: 'read' }),
      await send('GET', '/notes/gone', { key: 'read' }),
      await create('{}'),
      await send('GET', '/notes/a'),
    ].map(({ status, headers }) => [status, headers.get('x-ratelimit-remaining')]);

    expect(statuses).toEqual([
      [200, '119'],
      [404, '119'],
      [400, '119'],
      [401, null],
    ]);
  });
});

describe('idempotency', () => {
  test('a repeated request with identical bytes is replayed without a second call', async () => {
    const first = await create('{"text":"x"}', { 'idempotency-key': 'k' });
    const again = await create('{"text":"x"}', { 'idempotency-key': 'k' });

    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(first.headers.get('idempotent-replayed')).toBeNull();
    expect(requests).toHaveLength(1);
  });

  test('another body with the same key is a conflict, even one that is not JSON', async () => {
    await create('{"text":"x"}', { 'idempotency-key': 'k' });

    for (const body of ['{"text": "x"}', '{']) {
      const answer = await create(body, { 'idempotency-key': 'k' });
      expect([answer.status, answer.body]).toEqual([409, error('idempotency_error', 'idempotency_conflict')]);
    }
  });

  test('the attempt describes the request, and the handler receives the caller from the hook', async () => {
    await send('POST', '/notes?copies=2', {
      key: 'write',
      body: '{"text":"x"}',
      headers: { 'idempotency-key': 'k' },
    });

    expect(attempts).toMatchObject([
      { key: 'k', method: 'POST', target: '/notes?copies=2', operation: { id: 'createNote' } },
    ]);
    expect(requests).toEqual([
      {
        request: { path: {}, query: { copies: 2 }, body: { text: 'x', color: 'red' } },
        caller: { name: 'ada', role: 'write', replayed: 'k' },
      },
    ]);
  });

  test.each(['/open/notes', '/notes'])(
    'without a key, or in an operation without idempotency, %s is not replayed',
    async path => {
      const headers: Record<string, string> = path === '/notes' ? {} : { 'idempotency-key': 'k' };

      await send('POST', path, { key: 'write', body: '{"text":"x"}', headers });

      expect(steps).not.toContain('replay');
      expect(requests).toHaveLength(1);
    },
  );

  test.each(['', ' ', 'ä', 'x'.repeat(257), 'a b'])('the key "%s" is refused', async key => {
    const answer = await rawRequest(
      served.url,
      `POST /notes HTTP/1.1\r\nHost: x\r\nX-Api-Key: write\r\nIdempotency-Key: ${key}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    );

    expect([answer.status, JSON.parse(answer.body)]).toEqual([400, invalid('Idempotency-Key')]);
  });
});

describe('bodies', () => {
  test('defaults are filled in, and maps accept any key', async () => {
    await create('{"text":"x","parts":[{"size":1}],"extra":{"any":"1"}}');

    expect(requests).toMatchObject([
      { request: { body: { text: 'x', color: 'red', parts: [{ size: 1 }], extra: { any: '1' } } } },
    ]);
  });

  test.each([
    ['{"text":"x","colour":"blue"}', 'colour', "The 'colour' field is not known; did you mean 'color'?"],
    ['{"text":"x","Parts":[]}', 'Parts', "The 'Parts' field is not known; did you mean 'parts'?"],
    ['{"text":"x","administrator":true}', 'administrator', "The 'administrator' field is not known."],
    ['{"text":"x","constructor":{}}', 'constructor', "The 'constructor' field is not known."],
    [
      '{"text":"x","parts":[{"size":1},{"size":1,"sise":7}]}',
      'parts.1.sise',
      "The 'parts.1.sise' field is not known; did you mean 'parts.1.size'?",
    ],
    [
      `{"text":"x","${'colour'.repeat(9_000)}":1}`,
      `${'colour'.repeat(11).slice(0, 64)}…`,
      `The '${'colour'.repeat(11).slice(0, 64)}…' field is not known.`,
    ],
  ])(
    'an unknown field is a 400 that names it and the most similar field: %.60s',
    async (body, param, message) => {
      const answer = await create(body);

      const error = { type: 'invalid_request_error', code: 'invalid_field_value', message, param };
      expect([answer.status, answer.body]).toEqual([400, { error }]);
      expect(requests).toEqual([]);
    },
  );

  test('a PATCH with known and unknown fields is refused for the unknown one', async () => {
    const answer = await send('PATCH', '/notes/a', { key: 'write', body: '{"text":"x","unknown":1}' });

    expect([answer.status, answer.body]).toEqual([400, invalid('unknown')]);
    expect(requests).toEqual([]);
  });

  test.each<[string, string, object]>([
    ['a missing field', '{}', invalid('text', 'missing_required_field')],
    ['a missing field next to a wrong one', '{"amount":1}', invalid('text', 'missing_required_field')],
    [
      'a missing nested field',
      '{"text":"x","parts":[{"size":1},{}]}',
      invalid('parts.1.size', 'missing_required_field'),
    ],
    ['a wrong type', '{"text":1}', invalid('text')],
    ['null for a required field', '{"text":null}', invalid('text')],
    ['a wrong type of a nested field', '{"text":"x","parts":[{"size":"1"}]}', invalid('parts.0.size')],
    ['a fraction', '{"text":"x","parts":[{"size":1.5}]}', invalid('parts.0.size')],
    ['a key with a slash', '{"text":"x","extra":{"a/b~c":1}}', invalid('extra.a/b~c')],
    ['a value outside of the list', '{"text":"x","color":"green"}', invalid('color')],
    ['an empty text', '{"text":""}', invalid('text')],
    ['a bad address', '{"text":"x","owner":"0x12"}', invalid('owner', 'invalid_address')],
    ['an address that is not a string', '{"text":"x","owner":1}', invalid('owner')],
    ['an amount that is a number', '{"text":"x","amount":1}', invalid('amount')],
    ['a negative amount', '{"text":"x","amount":"-1"}', invalid('amount')],
    ['an amount with an exponent', '{"text":"x","amount":"1e18"}', invalid('amount')],
    ['2^256', `{"text":"x","amount":"${2n ** 256n}"}`, invalid('amount')],
    ['a page that is not https', '{"text":"x","page":"http://a.example"}', invalid('page')],
    ['a page with a user', '{"text":"x","page":"https://u:p@a.example"}', invalid('page')],
    ['a page without a host', '{"text":"x","page":"https://."}', invalid('page')],
    ['a page at port 0', '{"text":"x","page":"https://a.example:0/"}', invalid('page')],
    ['a page with an empty label', '{"text":"x","page":"https://a..example/"}', invalid('page')],
    [
      'a page with a label of 64',
      `{"text":"x","page":"https://${'a'.repeat(64)}.example/"}`,
      invalid('page'),
    ],
    ['a page with a line break', '{"text":"x","page":"https://a.example/\\n"}', invalid('page')],
    ['a script', '{"text":"x","page":"javascript:alert(1)"}', invalid('page')],
    ['a NUL character', '{"text":"a\\u0000b"}', invalid('text')],
    ['a NUL character in a key', '{"text":"x","extra":{"\\u0000":"1"}}', invalid('extra')],
    ['half a surrogate pair', '{"text":"x","extra":{"k":"\\ud800"}}', invalid('extra.k')],
    ['__proto__', '{"text":"x","extra":{"__proto__":"1"}}', invalid()],
    ['broken JSON', '{"text":', invalid()],
    ['a list', '[]', invalid()],
    ['null', 'null', invalid()],
    ['a text', '"x"', invalid()],
    ['a number', '1', invalid()],
    ['17 levels', `{"text":"x","extra":${'['.repeat(17)}${']'.repeat(17)}}`, invalid()],
    ['100,000 levels', '['.repeat(100_000), invalid()],
    ['more than 5,000 members', `{"text":"x","parts":[${'0,'.repeat(5_000)}0]}`, invalid()],
    ['more than 5,000 equal keys', `{${'"text":"x",'.repeat(5_000)}"text":"x"}`, invalid()],
  ])('%s is a 400 that names the position', async (_name, body, expected) => {
    const answer = await create(body);

    expect([answer.status, answer.body]).toEqual([400, expected]);
    expect(requests).toEqual([]);
  });

  test('a body with too many keys is refused before it is parsed', async () => {
    const keys = Array.from({ length: 6_000 }, (_, index) => `"k${index}":1`).join(',');
    const { status, body } = await create(`{${keys}, and no JSON`);

    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('5000 keys and items')]);
  });

  test('the largest amount and texts in any script are accepted', async () => {
    const body = JSON.stringify({
      text: 'Größe 🎉',
      amount: String(2n ** 256n - 1n),
      page: 'https://a.example/{ID}',
    });

    expect((await create(body)).status).toBe(201);
    expect(requests).toMatchObject([{ request: { body: JSON.parse(body) } }]);
  });

  test.each(['{}', '', '{"unknown":1}'])(
    'a PATCH with the body %j is refused because it changes nothing',
    async body => {
      const answer = await send('PATCH', '/notes/a', { key: 'write', body });

      expect([answer.status, answer.body]).toEqual([400, invalid(undefined, 'no_updates_provided')]);
    },
  );

  test('null clears a nullable field', async () => {
    const answer = await send('PATCH', '/notes/a', { key: 'write', body: '{"text":null}' });

    expect([answer.status, answer.body]).toEqual([200, { id: 'a', text: '' }]);
    expect(answer.headers.get('etag')).not.toBeNull();
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/json; charset=latin1',
    'multipart/form-data',
    '',
  ])('a body of the type "%s" is refused', async type => {
    const answer = await create('{"text":"x"}', { 'content-type': type });

    expect([answer.status, answer.body]).toEqual([400, invalid()]);
  });

  test.each([
    'application/json',
    'application/json;',
    'application/json ; ; charset=utf-8',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ])('a body of the type %s is accepted', async type => {
    expect((await create('{"text":"x"}', { 'content-type': type })).status).toBe(201);
  });

  test('a compressed body is refused', async () => {
    const answer = await create('{"text":"x"}', { 'content-encoding': 'gzip' });

    expect([answer.status, answer.body]).toEqual([400, invalid()]);
  });

  test('bytes that are not UTF-8 are refused', async () => {
    const answer = await create(new Uint8Array([...Buffer.from('{"text":"'), 0xff, ...Buffer.from('"}')]));

    expect([answer.status, answer.body]).toEqual([400, invalid()]);
  });

  test('a body of exactly 256 KiB is accepted, and one more byte is refused and ends the connection', async () => {
    const fitting = `{"text":"${'x'.repeat(256 * 1024 - 11)}"}`;

    const read = await create(fitting);
    const refused = await create(` ${fitting}`);

    expect(read.status).toBe(201);
    expect([refused.status, refused.body]).toEqual([400, invalid()]);
    expect(refused.headers.get('connection')).toBe('close');
  });

  test.each([
    ['with a key', 'X-Api-Key: write\r\n', 400],
    ['without a key', '', 401],
  ])('an endless body %s is answered before its end', async (_name, key, status) => {
    const answer = await rawRequest(
      served.url,
      `POST /notes HTTP/1.1\r\nHost: x\r\n${key}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${`40000\r\n${'x'.repeat(0x40000)}\r\n`.repeat(4)}`,
    );

    expect(answer.status).toBe(status);
    expect(answer.head).toMatch(/^connection: close\r?$/im);
  });

  test('a body is ignored by an operation without one', async () => {
    const answer = await rawRequest(
      served.url,
      'GET /notes/a HTTP/1.1\r\nHost: x\r\nX-Api-Key: read\r\nConnection: close\r\nContent-Length: 1\r\n\r\n{',
    );

    expect(answer.status).toBe(200);
  });
});

describe('answers', () => {
  test('of GET are private and revalidated, and all others are not stored', async () => {
    const read = await send('GET', '/notes/a', { key: 'read' });
    const tag = read.headers.get('etag') ?? '';
    const again = await send('GET', '/notes/a', { key: 'read', headers: { 'if-none-match': tag } });
    const written = await create('{"text":"x"}');

    expect(read.headers.get('cache-control')).toBe('private, no-cache');
    expect(again.status).toBe(304);
    expect(written.headers.get('cache-control')).toBe('no-store');
    expect(written.headers.get('etag')).toBeNull();
  });

  test('other than JSON keep their own type and text', async () => {
    const answer = await send('GET', '/notes/export', { key: 'read' });

    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(answer.body).toBe('id,text\r\na,"1,2"\r\n');
  });
});
