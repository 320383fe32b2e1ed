import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSecretKeys } from '#payments/secrets/secret-key.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-key-'));
  file = join(folder, 'var', 'secret.key');
});

afterEach(() => rm(folder, { recursive: true }));

test('a missing file is created for its owner only, and reused the next time', async () => {
  const first = await readSecretKeys({ kind: 'file', file });
  const second = await readSecretKeys({ kind: 'file', file });

  expect(first).toEqual(second);
  expect(Buffer.from(first[0], 'base64url')).toHaveLength(32);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('concurrent starts share one key and leave no other file', async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, () => readSecretKeys({ kind: 'file', file })));

  expect(new Set(keys.map(([current]) => current)).size).toBe(1);
  expect(await readdir(join(folder, 'var'))).toEqual(['secret.key']);
});

test('of several secrets the first is the current one', async () => {
  const [current, old] = ['c'.repeat(32), 'o'.repeat(40)];
  await readSecretKeys({ kind: 'file', file });
  await writeFile(file, `${current}\n\n${old}\n`);

  expect(await readSecretKeys({ kind: 'file', file })).toEqual([current, old]);
  expect(await readSecretKeys({ kind: 'value', value: ` ${current} ${old}` })).toEqual([current, old]);
});

test('a world-readable file, an empty one and a short secret are refused, not replaced', async () => {
  await readSecretKeys({ kind: 'file', file });
  await writeFile(file, 'short');
  await expect(readSecretKeys({ kind: 'file', file })).rejects.toThrow(/at least 32 characters/);
  await writeFile(file, '\n');
  await expect(readSecretKeys({ kind: 'file', file })).rejects.toThrow(/is empty/);
  await chmod(file, 0o644);
  await expect(readSecretKeys({ kind: 'file', file })).rejects.toThrow(/chmod 600/);

  expect(await readFile(file, 'utf8')).toBe('\n');
  await expect(readSecretKeys({ kind: 'value', value: 'short' })).rejects.toThrow(/at least 32/);
});

test('a pass phrase with blanks is refused with a message about the blanks', async () => {
  const value = 'correct horse battery staple and 20 others';

  await expect(readSecretKeys({ kind: 'value', value })).rejects.toThrow(/holds blanks.*without blanks/);
});

test('a missing file is not created unless allowed', async () => {
  await expect(readSecretKeys({ kind: 'file', file }, { mayCreate: false })).rejects.toThrow(file);

  await expect(stat(file)).rejects.toThrow('ENOENT');
});
