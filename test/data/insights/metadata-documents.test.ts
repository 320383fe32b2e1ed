import { expect, test, vi } from 'vitest';
import {
  type FetchDocument,
  type FetchedDocument,
  metadataDocuments,
} from '#data/backends/own-index/source/metadata-documents.ts';
import { manualClock } from '../../support/manual-clock.ts';

const GATEWAY = 'https://gateway.test/base';
const CID = 'QmRRPWG96cmgTn2qSzjwr2qvfNEuhunv6FNeMFGa9bx6mQ';

/** Documents with one fixed reply, and the URLs that were fetched. */
function documents(answer: FetchDocument) {
  const clock = manualClock();
  const fetchDocument = vi.fn(answer);
  const made = metadataDocuments({ fetchDocument, ipfsGateway: GATEWAY, clock });
  return { ...made, clock, fetched: () => fetchDocument.mock.calls };
}

const ok = async (): Promise<FetchedDocument> => ({ status: 'ok', text: '{}' });
const gone = async (): Promise<FetchedDocument> => ({ status: 'unreachable' });

test.for([
  [`ipfs://${CID}/7.json`, `${GATEWAY}/ipfs/${CID}/7.json`],
  [`ipfs://ipfs/${CID}/7.json`, `${GATEWAY}/ipfs/${CID}/7.json`],
  [`IPFS://${CID}`, `${GATEWAY}/ipfs/${CID}`],
  [`ipfs://${CID}/a b/ü#1.json`, `${GATEWAY}/ipfs/${CID}/a%20b/%C3%BC#1.json`],
] as const)('%s is read from the gateway, and its shown link leads a browser there', async ([uri, url]) => {
  const to = documents(ok);

  expect(await to.read(uri)).toEqual({ status: 'ok', text: '{}' });
  expect(to.fetched()).toEqual([[url, 'gateway']]);
  expect(to.browsable(uri)).toBe(url);
});

test.for([
  `ipfs://${CID}/../../api/v0/shutdown`,
  `ipfs://${CID}/%2e%2e/%2E%2E/api/v0/shutdown`,
  String.raw`ipfs://${CID}/..\..\api`,
  'ipfs://../api',
  'ipfs:///etc/passwd',
  'ipfs://',
  'ar://abc',
  'ftp://example.org/7.json',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '7.json',
  '',
])('nothing is fetched for %s, and its link is not changed', async uri => {
  const to = documents(ok);

  expect(await to.read(uri)).toEqual({ status: 'unsupported' });
  expect(to.fetched()).toEqual([]);
  expect(to.browsable(uri)).toBe(uri);
});

test('a document inside its own URI is not fetched', async () => {
  const to = documents(gone);

  expect(await to.read('data:application/json,{"name":"Plain"}')).toEqual({
    status: 'ok',
    text: '{"name":"Plain"}',
  });
  expect(to.fetched()).toEqual([]);
});

test('a success is cached for a day, a failure for a minute', async () => {
  const good = documents(ok);
  const bad = documents(gone);
  const readAt = async (to: ReturnType<typeof documents>, ms: number) => {
    to.clock.advance(ms);
    await to.read('https://example.org/7.json');
    return to.fetched().length;
  };

  expect([await readAt(good, 0), await readAt(good, 86_399_999), await readAt(good, 1)]).toEqual([1, 1, 2]);
  expect([await readAt(bad, 0), await readAt(bad, 59_999), await readAt(bad, 1)]).toEqual([1, 1, 2]);
});

test('concurrent requests share one fetch', async () => {
  const { promise, resolve } = Promise.withResolvers<FetchedDocument>();
  const to = documents(() => promise);

  const both = [to.read('https://example.org/7'), to.read('https://example.org/7')];
  resolve({ status: 'ok', text: '7' });

  expect(await Promise.all(both)).toEqual([
    { status: 'ok', text: '7' },
    { status: 'ok', text: '7' },
  ]);
  expect(to.fetched()).toHaveLength(1);
});

test('the cache is bounded in bytes and evicts the least used document', async () => {
  const to = documents(async () => ({ status: 'ok', text: 'x'.repeat(7_000_000) }));

  for (const id of [1, 2, 1, 3, 1]) await to.read(`https://example.org/${id}`);
  const before = to.fetched().length;
  await to.read('https://example.org/2');

  expect(before).toBe(3);
  expect(to.fetched()).toHaveLength(4);
});

test('sixteen documents load at once, two hundred wait, and a further one is refused without being cached', async () => {
  const { promise, resolve } = Promise.withResolvers<FetchedDocument>();
  const to = documents(() => promise);
  const link = (id: number) => `https://host${id % 4}.example.org/${id}`;

  const waiting = Array.from({ length: 216 }, (_, id) => to.read(link(id)));
  const refused = await to.read(link(216));
  const running = to.fetched().length;
  resolve({ status: 'ok', text: '{}' });
  const answered = await Promise.all(waiting);

  expect(running).toBe(16);
  expect(refused).toEqual({ status: 'pending' });
  expect(answered.every(({ status }) => status === 'ok')).toBe(true);
  expect(await to.read(link(216))).toEqual({ status: 'ok', text: '{}' });
});

test('one slow host gets four slots and a queue of a hundred, and delays no other host', async () => {
  const { promise, resolve } = Promise.withResolvers<FetchedDocument>();
  const to = documents(url =>
    url.includes('slow') ? promise : Promise.resolve({ status: 'ok', text: '{}' }),
  );
  const slow = (id: number) => to.read(`https://slow.example.org/${id}`);

  const waiting = Array.from({ length: 104 }, (_, id) => slow(id));
  const refused = await slow(104);
  const elsewhere = await to.read('https://example.org/1');
  const running = to.fetched().length;
  resolve({ status: 'ok', text: '{}' });

  expect([refused, elsewhere]).toEqual([{ status: 'pending' }, { status: 'ok', text: '{}' }]);
  expect(running).toBe(5);
  expect((await Promise.all(waiting)).every(({ status }) => status === 'ok')).toBe(true);
});
