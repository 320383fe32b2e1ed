import { describe, expect, test } from 'vitest';
import { pageOf } from '../../support/walk.ts';
import { listCases, transactionCases } from '../cases.ts';
import { type Bench, NO_SUCH_ANSWER } from './bench.ts';

/** Headers name the source of an answer and its cache lifetime. */
export function headersTellTheTruth(bench: () => Bench): void {
  describe('headers', () => {
    const FINAL = /^public, max-age=\d+$/;
    /** An index reports when an answer has changed; other back ends are asked again after a while. */
    const MOVING = /^(max-age=0, must-revalidate|public, max-age=\d+, stale-while-revalidate=60)$/;

    test('name the back end and the chain that answered', async () => {
      const { api, subject } = bench();
      for (const path of ['blocks', 'blocks/5', `transactions/${subject.places.split}`, 'stats']) {
        const { headers } = await api.get(`/explorer/${path}`);
        expect([headers.get('x-backend'), headers.get('x-chain-id')]).toEqual([
          subject.backend,
          String(subject.chainId),
        ]);
      }
    });

    test('allow caching a record from its last confirmation on, and not one block earlier', async () => {
      const { api, subject, head } = bench();
      for (const height of [head - subject.confirmations, head - subject.confirmations + 1]) {
        const expected = height + subject.confirmations <= head ? 'final' : 'moving';
        for (const path of await pathsOfBlock(height)) {
          const { headers } = await api.get(path);
          const kept = FINAL.test(headers.get('cache-control') ?? '') ? 'final' : 'moving';
          expect([path, kept]).toEqual([path, expected]);
        }
      }
    });

    test('allow caching a deep block with everything in it', async () => {
      const { api, subject, isMissing } = bench();
      const { split, blockWithWithdrawals } = subject.places;
      const cases = transactionCases(split)
        .filter(one => !isMissing(one))
        .map(({ path }) => path);
      const block = `/explorer/blocks/${blockWithWithdrawals}`;
      for (const path of [...cases, block, `${block}/transactions`, `${block}/withdrawals`]) {
        const { headers } = await api.get(path);
        expect([path, headers.get('cache-control')]).toEqual([path, expect.stringMatching(FINAL)]);
      }
    });

    test('give moving answers a short lifetime or revalidation', async () => {
      const { api, subject } = bench();
      const { holder, collection } = subject.places;
      const lists = listCases(subject.places)
        .filter(({ path }) => !/transactions\/|blocks\//.test(path))
        .map(({ path }) => path);
      const records = [
        '/explorer/stats',
        '/explorer/main-page/blocks',
        '/explorer/search?q=Crowd',
        `/explorer/smart-contracts/${collection}`,
        `/explorer/tokens/${collection}/instances/1`,
        `/explorer/addresses/${holder}/tokens`,
        '/explorer/transactions?filter=pending',
      ];
      for (const path of [...lists, ...records]) {
        const { headers, status } = await api.get(path);
        if (status === NO_SUCH_ANSWER) continue;
        expect([path, headers.get('cache-control')]).toEqual([path, expect.stringMatching(MOVING)]);
      }
    });

    /** A block, its transactions, and one of them with its contents. */
    async function pathsOfBlock(height: number): Promise<string[]> {
      const { reference, isMissing } = bench();
      const block = `/explorer/blocks/${height}`;
      const { items } = pageOf((await reference.get(`${block}/transactions`)).body);
      const inside = items.slice(0, 1).flatMap(({ hash }) => transactionCases(String(hash)));
      const paths = inside.filter(one => !isMissing(one)).map(({ path }) => path);
      return [block, `${block}/transactions`, ...paths];
    }
  });
}
