import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { responseCache } from '../../src/data/cache/response-cache.ts';
import { explorer } from '../../src/data/explorer/operations.ts';
import { type Coding, withForm } from '../../src/http/representation.ts';
import { manualClock } from '../support/manual-clock.ts';
import { answererOver, backend, chain } from './answer-support.ts';
import { storedEntry } from './cache-support.ts';

/** A list that is large enough to be compressed. */
function longPage(bytes: number) {
  const next = { block_number: 1, index: 1, chain_id: 1, cursor: 'c'.repeat(bytes) };
  return { body: { items: [], next_page_params: next } };
}

function served({ bytes = 2_000, maxBytes = 1_000_000 } = {}) {
  const clock = manualClock();
  const state = { loads: 0 };
  const answers = {
    listTokenTransfers: async () => {
      state.loads += 1;
      return longPage(bytes);
    },
  };
  const cache = responseCache({ maxBytes, clock });
  const handlers = explorer(
    answererOver([chain(1, backend({ name: 'first', answers }))], { clock, cache }).serve,
  );
  const ask = async (coding: Coding) => {
    const answer = await handlers.listTokenTransfers(
      { path: {}, query: {} },
      { headers: { 'accept-encoding': coding } },
    );
    if (!('encoded' in answer)) throw new Error('not encoded');
    return { result: answer.headers?.['X-Cache'], ...answer.encoded.representation };
  };
  return { ask, state };
}

describe.each([2_000, 20_000])('a body of %i bytes', bytes => {
  test('is compressed when the first client accepts an encoding, and kept in that encoding from then on', async () => {
    const { ask, state } = served({ bytes });

    const plain = await ask('identity');
    const first = await ask('br');
    const again = await ask('br');
    const last = await ask('gzip');

    expect([plain, first, again, last].map(({ result }) => result)).toEqual(['MISS', 'HIT', 'HIT', 'HIT']);
    expect([plain.br, plain.gzip, first.gzip]).toEqual([undefined, undefined, undefined]);
    expect(again.br).toBe(first.br);
    expect(last.br).toBe(first.br);
    expect(brotliDecompressSync(first.br ?? '')).toEqual(plain.identity);
    expect(gunzipSync(last.gzip ?? '')).toEqual(plain.identity);
    expect(state.loads).toBe(1);
  });

  test('is compressed once for concurrent clients', async () => {
    const { ask } = served({ bytes });
    await ask('identity');

    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('br')));
    const later = await ask('br');

    expect(answers.map(({ br }) => br?.length)).toEqual(answers.map(() => later.br?.length));
    expect(answers.some(({ br }) => br === later.br)).toBe(true);
  });
});

describe('the cache', () => {
  const clock = manualClock(Date.now());
  const entry = (identity: Buffer) => storedEntry(clock, identity);

  test('counts an added encoding against its bound, and evicts other entries for it', async () => {
    const cache = responseCache({ maxBytes: 30_000, clock });
    const before = entry(Buffer.alloc(2_000, 'x'));
    cache.set('old', before);
    for (let at = 0; at < 8; at += 1) cache.set(`key ${at}`, before);

    const grown = { ...before, representation: { ...before.representation, br: Buffer.alloc(400) } };
    for (let at = 0; at < 8; at += 1) cache.replaceIfUnchanged(`key ${at}`, { before, after: grown });

    expect(await cache.get('old')).toBeUndefined();
    expect(await cache.get('key 7')).toBe(grown);
  });

  test('keeps a newer answer when an older one gains an encoding', async () => {
    const cache = responseCache({ maxBytes: 30_000, clock });
    const before = entry(Buffer.alloc(2_000, 'x'));
    const newer = entry(Buffer.alloc(2_000, 'y'));
    cache.set('key', newer);

    const representation = await withForm(before.representation, 'br');
    cache.replaceIfUnchanged('key', { before, after: { ...before, representation } });
    cache.replaceIfUnchanged('gone', { before, after: before });

    expect(await cache.get('key')).toBe(newer);
    expect(await cache.get('gone')).toBeUndefined();
  });
});
