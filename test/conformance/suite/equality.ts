import { describe, expect, test } from 'vitest';
import { ANSWERED_OPERATIONS } from '../../lab/answered-operations.ts';
import type { Answer } from '../../support/contract-client.ts';
import { itemOf, pageOf } from '../../support/walk.ts';
import { type Case, listCases, recordCases, transactionCases, transactionsOfEverySort } from '../cases.ts';
import { type Difference, differences, isExplained, type Unknown } from '../differences.ts';
import type { Limits } from '../limits.ts';
import { walkList } from '../list-walk.ts';
import { type Bench, NO_SUCH_ANSWER } from './bench.ts';

/** A fault and its position. */
interface Found {
  readonly operation?: string;
  readonly path: string;
  /** The request, where `path` points into its body. */
  readonly of?: string;
  readonly status?: number;
  readonly actual?: unknown;
  readonly expected?: unknown;
}

/** Concurrent requests. */
const AT_ONCE = 7;

/** Every operation gives the index's answer, except for the fields that the back end cannot know. */
export function answersAreEqual(bench: () => Bench, limits: Limits): void {
  const used = new Set<Unknown>();
  const compares = new Set<string>();

  describe('equality', () => {
    test('a transaction of every sort, with everything in it, equals the index’s', async () => {
      const { reference } = bench();
      const hashes = await transactionsOfEverySort(reference, limits.depth === 'brief');
      const { items } = pageOf((await reference.get('/explorer/transactions?filter=pending')).body);
      hashes.push(String(items[0]?.hash));
      const cases = hashes.flatMap(transactionCases);

      expect(cases.length).toBeGreaterThan(20);
      expect(await allCompared(cases)).toEqual([]);
    });

    test('records of every other kind equal the index’s', async () => {
      const { reference, subject } = bench();
      const cases = await recordCases(reference, subject.places);

      expect(await allCompared(cases)).toEqual([]);
    });

    test('a walk by cursors visits each item of the index once, in order, with equal content', async () => {
      const { api, reference, subject, isMissing, inSharedOrder } = bench();
      for (const list of listCases(subject.places).filter(one => !isMissing(one))) {
        const found = await walkList(api, list, 'cursor');
        const expected = await walkList(reference, list, 'cursor');
        const at = `${list.path} ${JSON.stringify(list.query)}`;

        expect(found.pages, at).toBeGreaterThan(1);
        const [actual = [], wanted = []] = [found, expected].map(({ items }) => inSharedOrder(items, list));
        expect(actual.map(list.identity), at).toEqual(wanted.map(list.identity));
        expect(new Set(actual.map(list.identity)).size, at).toBe(actual.length);
        expect(oneOfEachSort(unexplained(actual, wanted, list)), at).toEqual([]);
      }
    });

    test('a missing answer is a 501', async () => {
      const { api, subject, isMissing } = bench();
      for (const { path } of listCases(subject.places).filter(isMissing))
        expect((await api.get(path)).status, path).toBe(NO_SUCH_ANSWER);
    });

    // These two depend on the comparisons above.
    test('covers every operation of the back end', () => {
      const all = ANSWERED_OPERATIONS.map(({ id }) => id).sort();

      expect([...compares, ...limits.missing].sort()).toEqual(all);
    });

    test('finds each declared limit, and no other', () => {
      expect(limits.unknown.filter(one => !used.has(one))).toEqual([]);
    });
  });

  /** Differences that `limits` do not explain. */
  function unexplained(actual: unknown, expected: unknown, { operation }: Case): Difference[] {
    compares.add(operation);
    return differences(actual, expected).filter(difference => {
      const reason = limits.unknown.find(one => isExplained(difference, one, operation));
      if (reason !== undefined) used.add(reason);
      return reason === undefined;
    });
  }

  /** Sends the same request to both and returns the differences. */
  async function compared(one: Case): Promise<Found[]> {
    const { api, reference, isMissing, inSharedOrder } = bench();
    const [actual, expected] = await Promise.all([api.get(one.path), reference.get(one.path)]);
    if (isMissing(one)) return actual.status === NO_SUCH_ANSWER ? [] : [{ ...one, status: actual.status }];
    if (actual.status !== expected.status) return [{ ...one, status: actual.status, actual: actual.body }];
    if (actual.status !== 200) return [];
    const bodyOf = ({ body }: Answer) =>
      Array.isArray(body) ? inSharedOrder(body.map(itemOf), one) : withoutCursor(body);
    const found = unexplained(bodyOf(actual), bodyOf(expected), one);
    return found.map(difference => ({ of: one.path, operation: one.operation, ...difference }));
  }

  async function allCompared(cases: readonly Case[]): Promise<Found[]> {
    const found: Found[] = [];
    for (let at = 0; at < cases.length; at += AT_ONCE) {
      const some = await Promise.all(cases.slice(at, at + AT_ONCE).map(compared));
      found.push(...some.flat());
    }
    return oneOfEachSort(found);
  }
}

/** One difference per position, so that a failure is readable. */
function oneOfEachSort(found: readonly Found[]): Found[] {
  return [...new Map(found.map(one => [`${one.operation} ${one.path}`, one])).values()];
}

/** A body without the position of the next page, which every back end writes in its own form. */
function withoutCursor(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('next_page_params' in body)) return body;
  return { ...body, next_page_params: body.next_page_params === null ? null : 'more' };
}
