import { describe, expect } from 'vitest';
import { list, record } from '../lab/json.ts';
import { test } from '../support/served-devnet.ts';

const LIST = '/explorer/token-transfers';

/** A record's place, which orders the list. */
function placeOf(item: unknown): readonly [block: number, log: number] {
  const { block_number: block, log_index: log } = record(item);
  return [Number(block), Number(log)];
}

describe('positions of token transfers', () => {
  test('are log indexes, and a page behind such a position loses and repeats nothing', async ({ api }) => {
    const first = record((await api.get(LIST)).body);
    const { block_number: block, index } = record(first.next_page_params);
    const [lastBlock, lastLog] = placeOf(list(first.items).at(-1));
    // As another back end writes it: in the middle of the page, without a cursor of the index.
    const middle = placeOf(list(first.items)[20]);
    const query = new URLSearchParams({ block_number: String(middle[0]), index: String(middle[1]) });

    const behind = list(record((await api.get(`${LIST}?${query}`)).body).items).map(placeOf);

    const before = ([one, log]: readonly [number, number]) =>
      one < middle[0] || (one === middle[0] && log < middle[1]);
    const rest = list(first.items).map(placeOf).filter(before);
    expect([block, index]).toEqual([lastBlock, lastLog]);
    expect(behind.every(before)).toBe(true);
    expect(behind.slice(0, rest.length)).toEqual(rest);
  });

  test('lead through the whole list without a cursor, also through batches', async ({ api }) => {
    const seen: string[] = [];
    let isInBatch = false;
    let keys: Record<string, string> = {};
    for (let page = 0; page < 200; page += 1) {
      const body = record((await api.get(`${LIST}?${new URLSearchParams(keys)}`)).body);
      for (const item of list(body.items).map(record))
        seen.push([...placeOf(item), record(item.total).token_id ?? ''].join());
      if (body.next_page_params === null) break;
      const { block_number: block, index, index_in_batch: batch } = record(body.next_page_params);
      isInBatch ||= batch !== undefined;
      keys = {
        block_number: String(block),
        index: String(index),
        ...(batch === undefined ? {} : { index_in_batch: String(batch) }),
      };
    }

    expect(seen.length).toBeGreaterThan(400);
    expect(new Set(seen).size).toBe(seen.length);
    expect(isInBatch).toBe(true);
  });
});
