import { describe, expect, test } from 'vitest';
import { pageOf } from '../../support/walk.ts';
import { listCases, transactionCases } from '../cases.ts';
import { type Bench, NO_HASH } from './bench.ts';

/** An upstream receives only requests that it understands, and no more than needed. */
export function requestsAreModest(bench: () => Bench): void {
  describe('requests', () => {
    test('for cached answers are a HIT with the same bytes', async () => {
      const { subject, isMissing } = bench();
      const cases = [...listCases(subject.places), ...transactionCases(subject.places.split)];
      for (const { path } of cases.filter(one => !isMissing(one))) {
        const first = await (await fetch(subject.url + path)).text();
        const second = await fetch(subject.url + path);

        expect([path, second.headers.get('x-cache')]).toEqual([path, 'HIT']);
        expect(await second.text()).toBe(first);
      }
    });

    test('with HEAD are answered like GET, without the body', async () => {
      const { subject } = bench();
      for (const path of ['/explorer/blocks/5', '/explorer/blocks', `/explorer/transactions/${NO_HASH}`]) {
        const get = await fetch(subject.url + path);
        await get.text();
        const head = await fetch(subject.url + path, { method: 'HEAD' });

        expect([path, head.status, await head.text()]).toEqual([path, get.status, '']);
        expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
        expect(head.headers.get('etag')).toBe(get.headers.get('etag'));
      }
    });

    test('with undeclared parameters have the same answer, and pass none of them on', async () => {
      const { api, subject } = bench();
      const strange = 'utm_source=x&apikey=secret&key=secret&just_request_body=true&limit=7';
      for (const path of ['/explorer/withdrawals', `/explorer/transactions/${NO_HASH}/summary`]) {
        const plain = await api.get(path);
        const other = await api.get(`${path}?${strange}`);
        expect(other.body).toEqual(plain.body);
      }
      const names = subject.upstreamRequests().flatMap(({ query }) => [...query.keys()]);
      expect(
        names.filter(name =>
          /^(utm_source|api_?key|key|just_request_body|limit|chain_id|cursor)$/.test(name),
        ),
      ).toEqual([]);
    });

    test('never send a page length upstream, which newer versions read as a requested size', () => {
      const { subject } = bench();
      const counted = subject
        .upstreamRequests()
        .filter(({ path, query }) => query.has('items_count') && !path.endsWith('/state-changes'));

      expect(counted).toEqual([]);
    });

    test('are refused upstream only for filters and keys that its version does not know', () => {
      const { subject } = bench();
      const refused = subject.upstreamRequests().filter(({ status }) => status === 422);
      const isKnownGap = ({ path, query }: (typeof refused)[number]) =>
        path === '/transactions/stats' ||
        (path === '/transactions' && (query.has('type') || query.has('method'))) ||
        (path.endsWith('/state-changes') && query.has('items_count'));

      expect(refused.filter(one => !isKnownGap(one))).toEqual([]);
    });

    test('never crash the upstream, except for the trace of a pending transaction', async () => {
      const { reference, subject } = bench();
      const { items } = pageOf((await reference.get('/explorer/transactions?filter=pending')).body);
      const crashes = new Set(
        subject.upstreamRequests().flatMap(({ status, path }) => (status >= 500 ? [path] : [])),
      );
      crashes.delete(`/transactions/${items[0]?.hash}/raw-trace`);

      expect([...crashes]).toEqual([]);
    });
  });
}
