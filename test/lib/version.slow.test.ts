import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const AUTHOR = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com'];
const execute = promisify(execFile);

async function emptyFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-version-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** The software in a folder, reduced to what says its version. */
async function software(folder: string, manifest: object): Promise<void> {
  await mkdir(join(folder, 'src', 'lib'), { recursive: true });
  await cp('src/lib/version.ts', join(folder, 'src', 'lib', 'version.ts'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', ...manifest }));
}

/** A repository with one commit in a folder. Returns the commit's id. */
async function commitIn(folder: string): Promise<string> {
  const git = (...args: string[]) => execute('git', args, { cwd: folder });
  await git('init', '--quiet');
  await git(...AUTHOR, 'commit', '--quiet', '--allow-empty', '--message', 'first');
  return (await git('rev-parse', 'HEAD')).stdout.trim();
}

/** Build that the software in a folder reports, in a process of its own. */
async function reported(folder: string): Promise<unknown> {
  const script = "import('./src/lib/version.ts').then(({ build }) => console.log(JSON.stringify(build())))";
  const { stdout } = await execute(process.execPath, ['-e', script], { cwd: folder });
  return JSON.parse(stdout);
}

test('a checkout reports the commit that git names', async () => {
  const folder = await emptyFolder();
  await software(folder, { version: '1.2.3' });
  const commit = await commitIn(folder);

  expect(await reported(folder)).toEqual({ version: '1.2.3', commit });
});

test('an installation reports no commit of the project that it is installed in', async () => {
  const project = await emptyFolder();
  await commitIn(project);
  const folder = join(project, 'opt', 'tollgate');
  await software(folder, { version: '1.2.3' });

  expect(await reported(folder)).toEqual({ version: '1.2.3', commit: null });
});

test('a package reports the commit that it was packed from', async () => {
  const folder = await emptyFolder();
  await software(folder, { version: '1.2.3', commit: 'abc123' });

  expect(await reported(folder)).toEqual({ version: '1.2.3', commit: 'abc123' });
});
