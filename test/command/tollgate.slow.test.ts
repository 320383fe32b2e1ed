import { execFile, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { COMMANDS } from '#command/run-command.ts';
import { build } from '#lib/version.ts';
import { fixtureOf } from '../lab/blockscout-fixtures.ts';
import { startScriptedUpstream } from '../lab/scripted-upstream.ts';
import { PATIENCE_MS, until } from '../lab/until.ts';

const LAUNCHER = 'src/tollgate.js';
/** Makes the launcher see a Node that does not strip types. */
const OLD_NODE =
  "data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '20.0.0' } })";
const OLD_LAUNCHER = [process.execPath, '--import', OLD_NODE, LAUNCHER, 'start'];
/** A shell that waits for the launcher and can end before it, like npm's. */
const BELOW_SHELL = ['sh', '-c', '"$@"; true', 'sh', ...OLD_LAUNCHER];
/** Long enough for the launcher to check its parent three times. */
const ANSWER_AFTER_MS = 1_800;

const execute = promisify(execFile);
const isTrue = (value: boolean) => value;
const tollgate = (...args: string[]) => run(process.execPath, LAUNCHER, ...args);

function run(file: string, ...args: string[]) {
  const { promise, resolve } = Promise.withResolvers<{ code: unknown; out: string; err: string }>();
  execFile(file, args, { timeout: PATIENCE_MS }, (error, out, err) =>
    resolve({ code: error === null ? 0 : error.code, out, err }),
  );
  return promise;
}

test('without a command, or with --help, every command is listed', async () => {
  const [alone, help] = await Promise.all([tollgate(), tollgate('--help')]);

  for (const { name, summary } of COMMANDS)
    expect(help.out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
  expect([alone, help.code, help.err]).toEqual([help, 0, '']);
});

test('--version prints the version and the commit', async () => {
  const { version, commit } = build();

  const { code, out } = await tollgate('--version');

  expect([code, out]).toEqual([0, commit === null ? `${version}\n` : `${version} (${commit})\n`]);
});

test.concurrent.each(COMMANDS)('$name --help prints its usage and exits with 0', async ({ name }) => {
  const { code, out, err } = await tollgate(name, '--help');

  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(new RegExp(`^Usage: tollgate ${name} `));
  expect(out).toContain('--help ');
});

test.concurrent.each([
  [['strt'], "Unknown command 'strt'; did you mean start?\n"],
  [['start', '--confg', 'a'], "Unknown option '--confg'; did you mean --config?\n"],
  [['keys', 'creat'], 'there is no command creat; did you mean create?\n'],
  [
    ['links', 'list', '--url', 'x'],
    'the API key is missing: set TOLLGATE_KEY\n"tollgate links --help" shows the options.\n',
  ],
  [['fly'], "Unknown command 'fly'; commands: start, "],
])('%j exits with 2 and says what would be right', async (args, said) => {
  const { code, out, err } = await tollgate(...args);

  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(said);
});

test('an empty NODE_COMPILE_CACHE does not name the working directory', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-cache-'));
  onTestFinished(() => rm(folder, { recursive: true }));

  await execute(process.execPath, [resolve('src/main.ts'), '--help'], {
    cwd: folder,
    env: { ...process.env, NODE_COMPILE_CACHE: '' },
  });

  expect(await readdir(folder)).toEqual([]);
});

test('an old Node without a packaged Node fails with one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-launcher-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await copyFile(LAUNCHER, join(folder, 'tollgate.mjs'));

  const { code, out, err } = await run(process.execPath, '--import', OLD_NODE, join(folder, 'tollgate.mjs'));

  expect([code, out]).toEqual([1, '']);
  expect(err).toMatch(/^tollgate needs Node 24 or newer; this is v[\d.]+\.\n$/);
});

test.each([
  ['SIGKILL', 137],
  ['SIGTERM', 143],
  ['SIGINT', 130],
])('on an old Node a program ended by %s makes the launcher exit with %i', async (signal, reported) => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-launcher-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await copyFile(LAUNCHER, join(folder, 'tollgate.mjs'));
  const installed = join(folder, 'node_modules', `node-${process.platform}-${process.arch}`);
  await mkdir(join(installed, 'bin'), { recursive: true });
  await writeFile(join(installed, 'package.json'), '{}');
  const program = `#!/bin/sh\nkill -${signal.slice('SIG'.length)} $$\n`;
  await writeFile(join(installed, 'bin', 'node'), program, { mode: 0o755 });

  const { code } = await run(process.execPath, '--import', OLD_NODE, join(folder, 'tollgate.mjs'));

  expect(code).toBe(reported);
});

describe.concurrent('a stop', () => {
  const transaction = fixtureOf('getTransaction', 'v11');

  const starts: readonly (readonly [way: string, command: readonly string[]])[] = [
    ['npm start', ['npm', 'start', '--silent', '--']],
    ['npx tollgate start', ['npx', 'tollgate', 'start']],
    ['the launcher alone', [process.execPath, LAUNCHER, 'start']],
    ['the launcher on an old Node', OLD_LAUNCHER],
  ];
  const stops = [
    ['SIGTERM', (pid: number) => process.kill(pid, 'SIGTERM')],
    // A terminal sends SIGINT to every process of the group.
    ['Ctrl+C', (pid: number) => process.kill(-pid, 'SIGINT')],
  ] as const;

  test.for(starts.flatMap(([way, command]) => stops.map(([name, stop]) => ({ way, command, name, stop }))))(
    'by $name ends the server cleanly after $way',
    async ({ command, stop }, { onTestFinished }) => {
      const { child, log, closed, errors } = await ready(command, onTestFinished);

      stop(child.pid ?? 0);
      await closed;

      expect(log).toContainEqual(expect.objectContaining({ msg: 'stopping' }));
      expect(log.filter(({ level }) => level > 40)).toEqual([]);
      expect(
        errors()
          .split('\n')
          .filter(line => line !== '' && !line.startsWith('npm ')),
      ).toEqual([]);
    },
  );

  test('also follows when the launcher is killed', async ({ onTestFinished }) => {
    const { child, log, closed } = await ready(OLD_LAUNCHER, onTestFinished);

    child.kill('SIGKILL');
    await closed;

    expect(log).toContainEqual(expect.objectContaining({ msg: 'stopping' }));
  });

  const ends: readonly (readonly [name: string, end: (shell: number) => void])[] = [
    ['the end of npm’s shell', shell => process.kill(shell, 'SIGKILL')],
    [
      'Ctrl+C, which ends npm’s shell as well,',
      shell => {
        process.kill(-shell, 'SIGINT');
        process.kill(shell, 'SIGKILL');
      },
    ],
  ];
  test.for(ends)('by %s lets a request in flight finish', async ([, end], { onTestFinished }) => {
    const { child, log, closed, beginRequest } = await ready(BELOW_SHELL, onTestFinished, 'npx');
    const { answer } = await beginRequest();

    end(child.pid ?? 0);

    expect((await answer).status).toBe(200);
    await closed;
    expect(log).toContainEqual(expect.objectContaining({ msg: 'stopping' }));
  });

  test('by a SIGTERM that a launcher passes on once more lets a request in flight finish', async ({
    onTestFinished,
  }) => {
    const program = [process.execPath, 'src/main.ts'];
    const { child, log, closed, beginRequest } = await ready(program, onTestFinished);
    const { answer } = await beginRequest();

    child.kill('SIGTERM');
    await until(async () => log.some(({ msg }) => msg === 'stopping'), isTrue);
    child.kill('SIGTERM');

    expect((await answer).status).toBe(200);
    await closed;
  });

  test('does not follow when a shell other than npm’s ends', async ({ onTestFinished }) => {
    const { child, log, closed, url } = await ready(BELOW_SHELL, onTestFinished);
    child.kill('SIGKILL');
    await delay(ANSWER_AFTER_MS);

    const answer = await fetch(`${url}/healthz`);
    process.kill(-(child.pid ?? 0), 'SIGTERM');
    await closed;

    expect(answer.status).toBe(200);
    expect(log).toContainEqual(expect.objectContaining({ msg: 'stopping' }));
  });

  /** Starts a server and waits until it is ready. `closed` resolves when it has ended. */
  async function ready(
    [file = '', ...args]: readonly string[],
    onTestFinished: (clean: () => void) => void,
    lifecycle = '',
  ) {
    const { upstream, config } = await configured(onTestFinished);
    const child = spawn(file, [...args, '--config', config, '--only', 'data'], {
      detached: true,
      // These tests may run under npm, which the program would mistake for its own start by npm.
      env: { ...process.env, npm_lifecycle_event: lifecycle },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', chunk => {
      errors += chunk;
    });
    const log: { msg: string; level: number; url?: string }[] = [];
    const { promise: isReady, resolve, reject } = Promise.withResolvers<void>();
    createInterface({ input: child.stdout }).on('line', line => {
      log.push(JSON.parse(line));
      if (log.at(-1)?.msg.startsWith('ready')) resolve();
    });
    let hasClosed = false;
    // The server keeps the pipes open while it runs, even after the launcher has ended.
    const closed = new Promise<void>(done => child.once('close', () => done())).then(() => {
      hasClosed = true;
      reject(new Error(`ended too early: ${errors}`));
    });
    onTestFinished(() => void (hasClosed || process.kill(-(child.pid ?? 0), 'SIGKILL')));
    await isReady;
    const { url } = log.find(({ msg }) => msg.startsWith('ready')) ?? {};
    /** Begins a request, and waits until the server has asked its upstream for the answer. */
    const beginRequest = async () => {
      const answer = fetch(`${url}/explorer${transaction.path}`);
      await until(async () => upstream.requests.some(({ path }) => path === transaction.path), isTrue);
      return { answer };
    };
    return { child, log, closed, url, beginRequest, errors: () => errors };
  }

  /** Configuration of a server with its own upstream, whose answers are slow. */
  async function configured(onTestFinished: (clean: () => Promise<void>) => void) {
    const upstream = await startScriptedUpstream(() => {
      return { text: transaction.text, type: 'application/json', latencyMs: ANSWER_AFTER_MS };
    });
    onTestFinished(async () => upstream[Symbol.asyncDispose]());
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-command-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const config = join(folder, 'tollgate.yaml');
    await writeFile(
      config,
      `data: { listen: 127.0.0.1:0 }
admin: { listen: 127.0.0.1:0 }
chains:
  - id: 1
    name: Ethereum
    native: { symbol: ETH, decimals: 18 }
    backends: [{ kind: blockscout, url: '${upstream.url}' }]
`,
    );
    return { upstream, config };
  }
});
