import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { script } from '../support/script.ts';

const check = script('licences.ts');

test('a licence is allowed if its SPDX expression leaves a choice of allowed licences only', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'licences-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const allowed = ['MIT', '(MIT OR GPL-3.0)', 'MIT AND (GPL-2.0 OR ISC)', '(MIT AND ISC) OR GPL-3.0'];
  const refused = ['GPL-3.0', 'MIT AND GPL-3.0', 'GPL-3.0 AND (MIT OR ISC)', '((MIT OR ISC) AND GPL-3.0)'];
  const packages = [...allowed, ...refused].map((license, at) => [`node_modules/package-${at}`, { license }]);
  const lock = join(folder, 'package-lock.json');
  await writeFile(lock, JSON.stringify({ packages: Object.fromEntries(packages) }));

  const { code, err } = await check(lock);

  expect(err.trimEnd().split('\n')).toEqual(
    refused.map((licence, at) => `package-${allowed.length + at}: ${licence}`),
  );
  expect(code).toBe(1);
});
