import { expect, test } from 'vitest';
import type { AttemptResult } from '#payments/model/webhook.ts';
import { results } from '#payments/webhooks/results.ts';
import { log } from './setting.ts';

class RowFault extends Error {}

const DEPS = { isOfRows: (error: unknown) => error instanceof RowFault, log };

test('results that arrive during a write are written together next, and each one resolves once written', async () => {
  const { keep, writeTogether } = results(DEPS);
  const { promise: isWritten, resolve: write } = Promise.withResolvers<void>();
  const told: string[] = [];
  const kept = (id: string) => keep(aResult(id)).then(() => told.push(id));
  const all = [kept('del_1')];

  const first = writeTogether(async batch => {
    all.push(kept('del_2'), kept('del_3'));
    await isWritten;
    return ids(batch);
  });
  expect(told).toEqual([]);
  write();

  expect([await first, await writeTogether(async batch => ids(batch))]).toEqual([
    ['del_1'],
    ['del_2', 'del_3'],
  ]);
  await Promise.all(all);
  expect(told).toEqual(['del_1', 'del_2', 'del_3']);
});

test('a result that can never be written is kept, and blocks no other', async () => {
  const { keep, writeTogether } = results(DEPS);
  const written = new Set<string>();
  const seen: boolean[] = [];
  const names = ['del_1', 'del_never', 'del_2', 'del_3', 'del_4'];
  for (const id of names) void keep(aResult(id));

  for (let times = 0; times < 8 && written.size < 4; times += 1) {
    const turn = writeTogether(async (batch, isAll) => {
      seen.push(isAll);
      if (ids(batch).includes('del_never')) throw new Error('a broken row');
      for (const id of ids(batch)) written.add(id);
    });
    await turn.catch(() => undefined);
  }

  expect([...written].sort()).toEqual(['del_1', 'del_2', 'del_3', 'del_4']);
  // No attempt may begin before all results so far are written.
  expect(seen.slice(0, 2)).toEqual([true, false]);
  expect(await writeTogether(async batch => ids(batch))).toEqual(['del_never']);
});

test.each([1, 2, 3])(
  'after a failed write of %i, results are announced as left until all are written',
  async count => {
    const { keep, writeTogether } = results(DEPS);
    for (let number = 0; number < count; number += 1) void keep(aResult(`del_${number}`));
    await writeTogether(async () => Promise.reject(new Error('the database is away'))).catch(() => undefined);
    const seen: boolean[] = [];
    const write = () =>
      writeTogether(async (batch, isAll) => {
        seen.push(isAll);
        return batch.length;
      });

    expect(await write()).toBe(Math.max(1, Math.floor(count / 2)));
    while ((await write()) > 0) {}

    expect(seen[0]).toBe(false);
    expect(seen.at(-1)).toBe(true);
  },
);

test('a result that its row rejects is dropped, and the others are written in the same turn', async () => {
  const { keep, writeTogether } = results(DEPS);
  const written: string[] = [];
  const told = ['del_1', 'del_never', 'del_2'].map(id => keep(aResult(id)));

  const answer = await writeTogether(async (batch, isAll) => {
    if (ids(batch).includes('del_never')) throw new RowFault('a value that no row takes');
    written.push(...ids(batch));
    return isAll;
  });

  expect(answer).toBe(true);
  expect(written).toEqual(['del_1', 'del_2']);
  await Promise.all(told);
});

test('a single result that its row rejects is dropped, and an error without results is not blamed on one', async () => {
  const { keep, writeTogether } = results(DEPS);
  const failing = async (batch: readonly AttemptResult[]) => {
    if (batch.length > 0) throw new RowFault('a value that no row takes');
    return 'written';
  };
  const kept = keep(aResult('del_never'));

  expect(await writeTogether(failing)).toBe('written');
  await kept;
  await expect(writeTogether(async () => Promise.reject(new RowFault('of another row')))).rejects.toThrow(
    RowFault,
  );
});

test('when the database fails while results are written one by one, the rest are kept', async () => {
  const { keep, writeTogether } = results(DEPS);
  const written: string[] = [];
  for (const id of ['del_1', 'del_2', 'del_3']) void keep(aResult(id));

  const losing = writeTogether(async batch => {
    if (batch.length > 1) throw new RowFault('a value that no row takes');
    if (written.length > 0) throw new Error('the database is away');
    written.push(...ids(batch));
  });

  await expect(losing).rejects.toThrow('the database is away');
  expect(written).toEqual(['del_1']);
  expect(await writeTogether(async batch => ids(batch))).toEqual(['del_2', 'del_3']);
});

test('results abandoned during a write are not written again, and resolve', async () => {
  const { keep, writeTogether, abandon } = results(DEPS);
  const told = ['del_1', 'del_2'].map(id => keep(aResult(id)));
  const batches: (readonly string[])[] = [];

  const turn = writeTogether(async batch => {
    batches.push(ids(batch));
    abandon();
    throw new RowFault('a broken row');
  });

  await expect(turn).rejects.toThrow(RowFault);
  await Promise.all(told);
  expect(batches).toEqual([['del_1', 'del_2']]);
});

test('abandoned results are never written, and resolve', async () => {
  const { keep, writeTogether, abandon } = results(DEPS);
  const kept = keep(aResult('del_1'));

  abandon();

  await kept;
  await keep(aResult('del_2'));
  expect(await writeTogether(async batch => ids(batch))).toEqual([]);
});

function ids(batch: readonly AttemptResult[]): string[] {
  return batch.map(({ id }) => id);
}

function aResult(id: string): AttemptResult {
  return {
    id,
    token: 'lease_1',
    sentTo: 'https://books.example/hooks',
    sentBody: '{}',
    isSuccess: true,
    responseCode: 200,
    responseTimeMs: 1,
    error: null,
    responseBody: null,
    endedAt: 0,
    jitter: 0,
  };
}
