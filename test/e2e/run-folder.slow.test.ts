import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { silentLogger } from '#lib/logger.ts';
import { openRunFolder } from '../../src/program/embedded.ts';

afterEach(() => vi.unstubAllEnvs());

async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
  await once(child, 'exit');
  return child.pid ?? 0;
}

test('a start removes the folders of killed runs on this machine, and no others', async () => {
  const place = await mkdtemp(join(tmpdir(), 'run-folders-'));
  onTestFinished(() => rm(place, { recursive: true }));
  vi.stubEnv('TMPDIR', place);
  const running = await openRunFolder(silentLogger());
  const owner: object = JSON.parse(await readFile(join(running.folder, 'run.json'), 'utf8'));
  const pid = await endedProcess();
  const left = async (name: string, text?: string) => {
    await mkdir(join(place, name));
    await writeFile(join(place, name, 'payments.db'), 'rows');
    if (text !== undefined) await writeFile(join(place, name, 'run.json'), text);
  };
  await left('tollgate-killed', JSON.stringify({ ...owner, pid }));
  await left('tollgate-elsewhere', JSON.stringify({ ...owner, pid, host: 'another-machine' }));
  await left('tollgate-container', JSON.stringify({ ...owner, pid, namespace: 'pid:[1]' }));
  await left('tollgate-foreign');
  await left('tollgate-broken', '{');
  await left('other-killed', JSON.stringify({ ...owner, pid }));
  await symlink(join(place, 'other-killed'), join(place, 'tollgate-link'));

  const next = await openRunFolder(silentLogger());

  const others = ['elsewhere', 'container', 'foreign', 'broken', 'link'].map(name => `tollgate-${name}`);
  const kept = [...others, 'other-killed'].filter(name => existsSync(join(place, name, 'payments.db')));
  expect(existsSync(join(place, 'tollgate-killed'))).toBe(false);
  expect(kept).toEqual([...others, 'other-killed']);
  expect([running.folder, next.folder].map(existsSync)).toEqual([true, true]);
  await next.remove();
  expect(existsSync(next.folder)).toBe(false);
});
