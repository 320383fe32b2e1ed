import { describe, expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '#data/backends/port/cursor.ts';
import { pageOf } from '../../support/walk.ts';
import { filterCases, listCases } from '../cases.ts';
import { walkList } from '../list-walk.ts';
import { type Bench, NO_SUCH_ANSWER } from './bench.ts';

/** Lists are walked completely, with and without filters, and only with their own cursors. */
export function listsAreWhole(bench: () => Bench): void {
  describe('lists', () => {
    test('a walk by the document’s keys visits the same items as one by cursors', async () => {
      const { api, reference, subject, limits, isMissing, inSharedOrder } = bench();
      for (const list of listCases(subject.places).filter(one => !isMissing(one))) {
        if (limits.byCursorOnly.includes(list.operation)) continue;
        const expected = await walkList(reference, list, 'cursor');
        const found = await walkList(api, list, 'keys');

        const [actual, wanted] = [found, expected].map(({ items }) =>
          inSharedOrder(items, list).map(list.identity),
        );
        expect(actual, list.path).toEqual(wanted);
      }
    });

    test('filters select exactly the matching items', async () => {
      const { api, reference, subject, isMissing, inSharedOrder } = bench();
      for (const list of filterCases(subject.places).filter(one => !isMissing(one))) {
        const expected = await walkList(reference, list, 'cursor');
        const found = await walkList(api, list, 'cursor');
        const at = `${list.path} ${JSON.stringify(list.query)}`;

        const [actual, wanted] = [found, expected].map(({ items }) =>
          inSharedOrder(items, list).map(list.identity),
        );
        expect(actual, at).toEqual(wanted);
      }
    });

    test('an unused address has empty lists', async () => {
      const { api, subject } = bench();
      for (const list of [
        'transactions',
        'token-transfers',
        'tokens',
        'nft',
        'nft/collections',
        'withdrawals',
        'blocks-validated',
        'logs',
        'internal-transactions',
      ]) {
        const path = `/explorer/addresses/${subject.places.nobody}/${list}`;
        const { status, body } = await api.get(path);
        if (status === NO_SUCH_ANSWER) continue;

        expect([path, status, body]).toEqual([path, 200, { items: [], next_page_params: null }]);
      }
    });
  });

  describe('cursors', () => {
    const cursorOf = async (path: string) =>
      String(pageOf((await bench().api.get(path)).body).next?.cursor ?? 'none');

    test('lead back to the back end that wrote them', async () => {
      const { subject } = bench();
      const cursor = decodeCursor(await cursorOf('/explorer/blocks'));

      expect(cursor).toMatchObject({ backend: subject.backend, chainId: subject.chainId });
    });

    test('of another back end, of another chain, or made up, are a 400 that names them', async () => {
      const { api, subject } = bench();
      const { chainId, backend } = subject;
      const position = { block_number: 5 };
      for (const cursor of [
        encodeCursor({ backend: 'elsewhere', chainId, position }),
        encodeCursor({ backend, chainId: chainId + 1, position }),
        'garbled',
      ]) {
        const { status, body } = await api.get(`/explorer/blocks?cursor=${cursor}`);
        expect([status, body]).toEqual([400, { message: expect.stringMatching(/^cursor: must be /) }]);
      }
    });

    test('of another list are a 400, because upstream might accept their keys', async () => {
      const { api, subject, limits, isMissing } = bench();
      const lists = listCases(subject.places).filter(one => !isMissing(one) && one.query === undefined);
      for (const [place, list] of lists.entries()) {
        const other = lists.at(place - 1);
        if (other === undefined || other.operation === list.operation) continue;
        const cursor = await cursorOf(list.path);
        const keys = Object.keys(decodeCursor(cursor)?.position ?? {});
        const theirs = Object.keys(decodeCursor(await cursorOf(other.path))?.position ?? {});
        if (limits.sharesCursors && theirs.every(key => keys.includes(key))) continue;

        const { status } = await api.get(`${other.path}?cursor=${cursor}`);
        expect([other.path, list.path, status]).toEqual([other.path, list.path, 400]);
      }
    });
  });
}
