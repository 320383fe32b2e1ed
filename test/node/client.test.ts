import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { encodeErrorResult, parseAbi } from 'viem';
import { afterEach, expect, test, vi } from 'vitest';
import { assembly, piecesOf } from '#lib/json-text/pieces.ts';
import { silentLogger } from '#lib/logger.ts';
import { createChainClient, nodeAnswered, nullIfAnswered, nullIfNotGiven } from '#node/client.ts';
import { AnswerTooLarge, NodeFailure } from '#node/transport/errors.ts';
import { PATIENCE_MS, until } from '../lab/until.ts';
import { type HostileNode, hostileNode, type NodeBehaviour } from '../support/hostile-node.ts';
import { manualClock } from '../support/manual-clock.ts';

const log = silentLogger();
const clock = manualClock();
const opened: AsyncDisposable[] = [];

afterEach(async () => {
  for (const node of opened.splice(0)) await node[Symbol.asyncDispose]();
});

interface Limits {
  readonly timeoutMs?: number;
  readonly maxAnswerBytes?: number;
}

async function nodeThat(behaviour?: NodeBehaviour): Promise<HostileNode> {
  const node = await hostileNode(behaviour);
  opened.push(node);
  return node;
}

function clientOf(nodes: readonly HostileNode[], { timeoutMs = 30_000, ...limits }: Limits = {}) {
  return createChainClient({ id: 1, rpcUrls: nodes.map(({ url }) => url), timeoutMs, clock, log, ...limits });
}

const hashes = (count: number) =>
  Array.from({ length: count }, (_, index): `0x${string}` => `0x${index.toString(16).padStart(64, '0')}`);

/** Asks for receipts; returns the results, with the error instead of those that fail. */
function receipts(client: ReturnType<typeof clientOf>, count: number): Promise<unknown[]> {
  return Promise.all(
    hashes(count).map(hash =>
      client
        .request({ method: 'eth_getTransactionReceipt', params: [hash] })
        .catch((error: unknown) => error),
    ),
  );
}

test('an answer above the limit fails alone, and the other calls are answered', async () => {
  const node = await nodeThat((_, __, well) =>
    well(({ params: [hash] }) => (Number(hash) === 3 ? 'x'.repeat(40_000) : { of: Number(hash) })),
  );
  const client = clientOf([node], { maxAnswerBytes: 20_000 });

  const found = await receipts(client, 10);

  expect(found[3]).toBeInstanceOf(AnswerTooLarge);
  expect(nodeAnswered(found[3])).toBe(false);
  expect(found.filter((_, index) => index !== 3)).toEqual(
    [0, 1, 2, 4, 5, 6, 7, 8, 9].map(index => ({ of: index })),
  );
});

test('an answer that is announced above the limit is refused before it arrives', async () => {
  const node = await nodeThat((_, response) => {
    response.writeHead(200, { 'content-length': 100_001 }).flushHeaders();
  });
  const client = clientOf([node], { maxAnswerBytes: 100_000 });

  expect(await receipts(client, 1)).toEqual([expect.any(AnswerTooLarge)]);
});

test('a large answer that ends before its announced length fails', async () => {
  const node = await nodeThat((_, response) => {
    response.writeHead(200, { 'content-length': 3 * 2 ** 20 });
    response.write('x'.repeat(2 * 2 ** 20), () => response.destroy());
  });

  expect(await receipts(clientOf([node]), 1)).toEqual([expect.objectContaining({ fault: 'unreachable' })]);
});

test('a compressed answer counts by its decompressed bytes', async () => {
  const node = await nodeThat(({ calls: [call] }, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync(JSON.stringify({ id: call?.id, result: 'x'.repeat(1_000_000) })));
  });
  const client = clientOf([node], { maxAnswerBytes: 100_000 });

  expect(await receipts(client, 1)).toEqual([expect.any(AnswerTooLarge)]);
});

test('a node that accepts only short batches is asked in batches of that length from then on', async () => {
  const node = await nodeThat(({ calls }, response, well) => {
    if (calls.length <= 10) return well(({ params: [hash] }) => Number(hash));
    response.statusCode = 413;
    response.end('too many calls');
  });
  const client = clientOf([node]);

  const first = await receipts(client, 40);
  const before = node.batches.length;
  const second = await receipts(client, 40);

  expect(first).toEqual(hashes(40).map(Number));
  expect(second).toEqual(first);
  expect(Math.max(...node.batches.slice(before))).toBeLessThanOrEqual(10);
});

test.each<[string, NodeBehaviour]>([
  [
    'refuses lists',
    ({ isBatch }, response, well) =>
      isBatch ? response.writeHead(400).end() : well(({ params: [hash] }) => Number(hash)),
  ],
  [
    'answers a list by one object',
    ({ isBatch }, response, well) =>
      isBatch
        ? response.end(
            JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'no batches' } }),
          )
        : well(({ params: [hash] }) => Number(hash)),
  ],
  [
    'answers only the first call of a list',
    ({ calls: [call], isBatch }, response, well) =>
      isBatch
        ? response.end(JSON.stringify([{ jsonrpc: '2.0', id: call?.id, result: Number(call?.params[0]) }]))
        : well(({ params: [hash] }) => Number(hash)),
  ],
])('a node that %s is asked by single calls', async (_, behaviour) => {
  const client = clientOf([await nodeThat(behaviour)]);

  expect(await receipts(client, 5)).toEqual([0, 1, 2, 3, 4]);
});

test('an error in the answer to one call fails that call only', async () => {
  const node = await nodeThat((_, __, well) =>
    well(({ params: [hash] }) => (Number(hash) === 1 ? new Error('execution reverted') : Number(hash))),
  );

  const [first, second, third] = await receipts(clientOf([node]), 3);

  expect([first, third]).toEqual([0, 2]);
  expect(nodeAnswered(second)).toBe(true);
});

test('a limit of the node, by the code -32005, is no answer to the question', async () => {
  const limit = Object.assign(new Error('daily request count exceeded'), { code: -32_005 });
  const node = await nodeThat((_, __, well) =>
    well(({ params: [hash] }) => (Number(hash) === 0 ? limit : new Error('unknown transaction'))),
  );

  const [limited, refused] = await receipts(clientOf([node]), 2);

  expect([nodeAnswered(limited), nodeAnswered(refused)]).toEqual([false, true]);
  expect(nullIfAnswered(refused)).toBeNull();
  expect(() => nullIfAnswered(limited)).toThrow('daily request count exceeded');
  expect(() => nullIfNotGiven(limited)).toThrow('daily request count exceeded');
});

test('calls that trace a block are sent alone', async () => {
  const node = await nodeThat();
  const client = clientOf([node]);

  await Promise.all([
    ...[1, 2].map(() => client.request({ method: 'trace_block', params: ['0x1'] })),
    receipts(client, 2),
  ]);

  expect(node.batches.toSorted()).toEqual([1, 1, 2]);
});

test.each<[string, NodeBehaviour]>([
  ['before the headers', () => {}],
  [
    'after the headers',
    (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders(),
  ],
  [
    'with a byte now and then',
    (_, response) => {
      const timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    },
  ],
])('an answer that hangs %s ends at the deadline', async (_, behaviour) => {
  const client = clientOf([await nodeThat(behaviour)], { timeoutMs: 200 });

  expect(await receipts(client, 2)).toEqual(Array(2).fill(expect.objectContaining({ fault: 'timeout' })));
});

test.each<[string, NodeBehaviour]>([
  ['hangs', () => {}],
  ['sends a byte now and then', (_, response) => void response.write(' ')],
  [
    'serves another chain',
    (_, __, well) => well(({ method }) => (method === 'eth_chainId' ? '0x2' : undefined)),
  ],
  ['breaks connections', ({ request }) => void request.socket.destroy()],
  ['limits the rate', (_, response) => void response.writeHead(429, { 'retry-after': '90' }).end()],
])('a first node that %s is left for one that is well', async (_, behaviour) => {
  const bad = await nodeThat(behaviour);
  const good = await nodeThat((__, ___, well) =>
    well(({ params: [hash] }) => (hash === undefined ? undefined : 'good')),
  );
  const client = clientOf([bad, good]);

  expect(await receipts(client, 2)).toEqual(['good', 'good']);
  const before = bad.methods.filter(method => method === 'eth_getTransactionReceipt').length;
  expect(await receipts(client, 2)).toEqual(['good', 'good']);
  expect(bad.methods.filter(method => method === 'eth_getTransactionReceipt')).toHaveLength(before);
});

test('a first node that stands still is asked last until it has caught up', async () => {
  let [theirs, ours] = [1, 1];
  const standing =
    (name: string, head: () => number): NodeBehaviour =>
    (_, __, well) =>
      well(({ method }) => {
        if (method === 'eth_getBlockByNumber') return { number: `0x${head().toString(16)}` };
        return method === 'eth_getTransactionReceipt' ? name : undefined;
      });
  const first = await nodeThat(standing('first', () => theirs));
  const second = await nodeThat(standing('second', () => ours));
  const client = clientOf([first, second]);
  /** Asks until this node answers. The heads are compared again with each question. */
  const answeredBy = (name: string) =>
    until(
      () => {
        clock.advance(6_000);
        return receipts(client, 1);
      },
      ([answer]) => answer === name,
    );

  const atFirst = await answeredBy('first');
  ours = 9;
  const behind = await answeredBy('second');
  theirs = 9;
  const caughtUp = await answeredBy('first');

  expect([atFirst, behind, caughtUp]).toEqual([['first'], ['second'], ['first']]);
});

test('a single node that limits the rate is asked again without the pause that it names', async () => {
  let isLimited = true;
  const node = await nodeThat((_, response, well) =>
    isLimited ? response.writeHead(429, { 'retry-after': '86400' }).end() : well(() => 'well'),
  );
  const client = clientOf([node]);

  const limited = await receipts(client, 1);
  isLimited = false;

  expect(limited).toEqual([expect.objectContaining({ fault: 'limited', retryAfterMs: 86_400_000 })]);
  expect(await receipts(client, 1)).toEqual(['well']);
});

test('redirects are not followed', async () => {
  const canary = await nodeThat();
  const node = await nodeThat((_, response) => response.writeHead(307, { location: canary.url }).end());

  expect(await receipts(clientOf([node]), 1)).toEqual([
    expect.objectContaining({ fault: 'refused', status: 307 }),
  ]);
  expect(canary.batches).toEqual([]);
});

test('a contract that asks for a URL (EIP-3668) makes no request to it', async () => {
  const canary = await nodeThat();
  const sender = '0x00000000000000000000000000000000000000aa';
  const data = encodeErrorResult({
    abi: parseAbi(['error OffchainLookup(address, string[], bytes, bytes4, bytes)']),
    args: [sender, [`${canary.url}/{data}`], '0x12', '0x00000000', '0x'],
  });
  const node = await nodeThat(({ calls: [call] }, response) => {
    const error = { code: 3, message: 'execution reverted', data };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: call?.id, error }));
  });

  const read = clientOf([node]).public.call({ to: sender, data: '0x' });

  await expect(read).rejects.toThrow();
  expect(canary.batches).toEqual([]);
});

test('an error body is cut, and the key in the node’s address is removed from it', async () => {
  const node = await nodeThat((_, response) =>
    response.writeHead(403).end(`bad key: /v3/0123456789abcdef ${'long '.repeat(1_000)}`),
  );
  const rpcUrls = [`${node.url}/v3/0123456789abcdef`];
  const client = createChainClient({ id: 1, rpcUrls, timeoutMs: PATIENCE_MS, clock, log });

  const error = await client.request({ method: 'eth_chainId' }).catch((reason: unknown) => reason);

  expect(error).toBeInstanceOf(NodeFailure);
  expect(String(error)).toContain('bad key: /v3/[hidden] long');
  expect(String(error).length).toBeLessThan(400);
  expect(JSON.stringify(error)).not.toContain('0123456789abcdef');
});

test('a call that its caller gives up ends at once, and its neighbour goes on', async () => {
  const release = Promise.withResolvers<void>();
  const node = await nodeThat(async (_, __, well) => {
    await release.promise;
    well(() => 'late');
  });
  const client = clientOf([node]);
  const given = new AbortController();
  const [hash] = hashes(1);

  const first = client.request(
    { method: 'eth_getTransactionByHash', params: [hash ?? '0x'] },
    { signal: given.signal },
  );
  const second = client.request({ method: 'eth_chainId' });
  await until(
    async () => node.batches.length,
    count => count > 0,
  );
  given.abort(new Error('given up'));

  await expect(first).rejects.toThrow('given up');
  release.resolve();
  expect(await second).toBe('late');
});

test('a large answer is parsed in a thread, and arrives in many turns of the event loop', async () => {
  using parse = vi.spyOn(JSON, 'parse');
  const log1 = { address: '0x'.padEnd(42, '1'), topics: [], data: '0x', logIndex: '0x1' };
  const receipt = { logs: Array(60_000).fill(log1), status: '0x1' };
  const text = JSON.stringify({ jsonrpc: '2.0', id: 0, result: receipt });
  const node = await nodeThat((_, response) => void response.end(text));
  const client = clientOf([node]);
  const turns: string[] = [];

  const asked = receipts(client, 1);
  let isOpen = true;
  void asked.finally(() => {
    isOpen = false;
  });
  while (isOpen) {
    turns.push('turn');
    await delay(0);
  }

  expect(await asked).toEqual([receipt]);
  // This thread parses the requests at the node only.
  const parsed = parse.mock.calls.reduce((sum, [given]) => sum + given.length, 0);
  expect(parsed).toBeLessThan(text.length / 100);
  // The value arrives in more than a hundred pieces, two of them at a time.
  expect(turns.length).toBeGreaterThan(50);
});

test('of two answers above 16 MiB the second waits until the first has been read', async () => {
  const head = '{"jsonrpc":"2.0","id":0,"result":"';
  const [read, sent] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = await nodeThat((_, response) => {
    response.write(head + 'a'.repeat(24 * 2 ** 20), () => read.resolve());
    void sent.promise.then(() => response.end('"}'));
  });
  // What the client leaves unread of this one fits into the buffers of the connection.
  const quick = await nodeThat((_, response) => {
    response.end(`${head}${'b'.repeat(16.5 * 2 ** 20)}"}`, () => sent.resolve());
  });
  const order: string[] = [];

  const first = receipts(clientOf([slow]), 1).then(() => order.push('first'));
  await read.promise;
  await Promise.all([first, receipts(clientOf([quick]), 1).then(() => order.push('second'))]);

  expect(order).toEqual(['first', 'second']);
});

test('a large answer that is no JSON fails as unreadable', async () => {
  const node = await nodeThat((_, response) => void response.end(`[${'0,'.repeat(2 ** 20)}`));

  expect(await receipts(clientOf([node]), 1)).toEqual([expect.objectContaining({ fault: 'unreadable' })]);
});

test('any value survives being passed in pieces', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 4 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.constantFrom(undefined, 1),
      (value, count, space) => {
        const many = Array(count).fill(value);
        const text = JSON.stringify(
          { many, ['__proto__']: { many }, last: [[], {}], '"]': many },
          null,
          space,
        );

        // Far quicker than comparing the values, which are long.
        expect(JSON.stringify(passed(text))).toBe(JSON.stringify(JSON.parse(text)));
      },
    ),
    { numRuns: 30 },
  );
});

test('of repeated keys the last one wins, also when their values are passed in pieces', () => {
  const long = JSON.stringify(Array(20_000).fill(0));
  const text = `{"a":${long},"a":1,"b":1,"b":${long}}`;

  expect(passed(text)).toEqual(JSON.parse(text));
});

test.each([
  '[L,]',
  '[,L]',
  '[L L]',
  '[1 L]',
  '[L}',
  'L L',
  'L,',
  '[L',
  'L]',
  '{L}',
  '{"a":L,}',
  '{"a" L}',
  '{"a":L "b":1}',
])('a text that is no JSON is refused when it is passed in pieces: %s', pattern => {
  for (const long of [JSON.stringify(Array(20_000).fill(0)), JSON.stringify({ a: Array(20_000).fill('x') })])
    expect(() => passed(pattern.replaceAll('L', long))).toThrow(SyntaxError);
});

/** The value of a text after its pieces were copied one by one. */
function passed(text: string): unknown {
  const pieces = piecesOf(Buffer.from(text), JSON.parse);
  const { add, result } = assembly();
  let next = pieces.next();
  for (; next.done !== true; next = pieces.next()) add(structuredClone(next.value));
  return result(structuredClone(next.value));
}

test('calls on another line of a node share no request with others and are counted apart', async () => {
  const node = await nodeThat((_request, _response, well) => well(() => '0x1'));
  const client = clientOf([node]);
  const [first] = client.nodes;
  const line = first?.line();
  const ask = { method: 'eth_blockNumber' } as const;

  await Promise.all([first?.request(ask), line?.request(ask), line?.request(ask)]);

  expect(node.batches.toSorted()).toEqual([1, 2]);
  expect([first?.traffic().calls, line?.traffic().calls]).toEqual([1, 2]);
});

test('a line of its own reads no longer answers than the node', async () => {
  const node = await nodeThat((_request, _response, well) => well(() => `0x${'0'.repeat(30_000)}`));
  const [first] = clientOf([node], { maxAnswerBytes: 20_000 }).nodes;
  const ask = { method: 'eth_blockNumber' } as const;

  for (const maxAnswerBytes of [undefined, 10_000, 100_000])
    await expect(first?.line(maxAnswerBytes).request(ask)).rejects.toThrow(AnswerTooLarge);
});
