import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { build } from '#lib/version.ts';

const CONFIG = `
data: { listen: 127.0.0.1:0 }
payments: { listen: 127.0.0.1:0 }
admin: { listen: 127.0.0.1:0 }
devnet: { chains: 1, blocks: 20 }
`;
const execute = promisify(execFile);

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

interface Entry {
  readonly msg: string;
  readonly level: number;
  readonly url?: string;
  readonly payments?: { readonly url: string };
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string; readonly dev?: boolean }>>;
}

let packages = '';
let tarball = '';

beforeAll(async () => {
  packages = await mkdtemp(join(tmpdir(), 'tollgate-package-'));
  await execute('npm', ['pack', '--silent', '--pack-destination', packages]);
  const [name = ''] = (await readdir(packages)).filter(file => file.endsWith('.tgz'));
  tarball = join(packages, name);
}, 180_000);

afterAll(() => rm(packages, { recursive: true }));

/** A folder with the packed program and links to its declared dependencies, like an installation. */
async function installed(): Promise<string> {
  const folder = await mkdtemp(join(packages, 'installed-'));
  const packed = join(folder, 'node_modules', 'tollgate');
  await mkdir(packed, { recursive: true });
  await execute('tar', ['xzf', tarball, '--strip-components', '1', '-C', packed]);

  const manifest: Manifest = JSON.parse(await readFile(join(packed, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies })) {
    const place = join(folder, 'node_modules', name);
    await mkdir(dirname(place), { recursive: true });
    // Optional dependencies for other systems are not installed.
    if (existsSync(join('node_modules', name))) await symlink(resolve('node_modules', name), place);
  }
  await mkdir(join(folder, 'node_modules', '.bin'));
  await symlink('../tollgate/src/tollgate.js', join(folder, 'node_modules', '.bin', 'tollgate'));
  await writeFile(join(folder, 'tollgate.yaml'), CONFIG);
  return folder;
}

test('npm pack makes a package that runs with npx in an empty folder, with the embedded default', async () => {
  const folder = await installed();
  const child = spawn('npx', ['tollgate', 'start', '--config', 'tollgate.yaml'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const log: Entry[] = [];
  let errors = '';
  child.stderr.on('data', chunk => {
    errors += chunk;
  });
  const { promise: ready, resolve: found, reject } = Promise.withResolvers<Entry>();
  createInterface({ input: child.stdout }).on('line', line => {
    const entry: Entry = JSON.parse(line);
    log.push(entry);
    if (entry.msg.startsWith('ready')) found(entry);
  });
  const closed = new Promise<void>(done => child.once('close', () => done()));
  void closed.then(() => reject(new Error(`ended too early: ${errors}`)));
  const { url: data = '', payments } = await ready;
  const get = async (address: string) => {
    const response = await fetch(address);
    return { status: response.status, text: await response.text() };
  };

  const page = await get(`${data}/`);
  const [, module = ''] = /src="([^"]+\.ts)"/.exec(page.text) ?? [];
  const answers = {
    health: await get(`${data}/healthz`),
    transactions: await get(`${data}/explorer/transactions`),
    // This path runs in a worker thread of the index.
    events: await get(`${data}/insights/v1/events?chain_id=31337&aggregate=count()%20as%20n`),
    docs: await get(`${data}/docs`),
    module: await get(`${data}${module}`),
    payments: await get(`${payments?.url}/readyz`),
    dashboard: await get(`${payments?.url}/dashboard`),
  };
  const chains = await execute(process.execPath, ['node_modules/.bin/tollgate', 'chains', 'base'], {
    cwd: folder,
  });
  child.kill('SIGTERM');
  await closed;

  expect(Object.fromEntries(Object.entries(answers).map(([name, { status }]) => [name, status]))).toEqual(
    Object.fromEntries(Object.keys(answers).map(name => [name, 200])),
  );
  expect(JSON.parse(answers.transactions.text).items.length).toBeGreaterThan(0);
  expect(Number(JSON.parse(answers.events.text).aggregations[0].n)).toBeGreaterThan(0);
  expect(answers.module.text).toMatch(/^import |from '/m);
  expect(chains.stdout).toContain('id: 8453');
  expect(log[0]).toMatchObject({ msg: 'starting', commit: build().commit });
  expect(log).toContainEqual(expect.objectContaining({ msg: 'stopping' }));
  expect(log.filter(({ level }) => level > 40)).toEqual([]);
}, 180_000);

test('the package pins every package that it needs to the version of package-lock.json', async () => {
  const lock: Lock = JSON.parse(await readFile('package-lock.json', 'utf8'));
  const { stdout } = await execute('tar', ['xzOf', tarball, 'package/npm-shrinkwrap.json']);
  const shipped: Lock = JSON.parse(stdout);
  const needed = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);

  const versions = ({ packages: entries }: Lock) =>
    Object.entries(entries).map(([place, { version }]) => `${place}@${version}`);

  expect(versions(shipped)).toEqual(versions({ packages: Object.fromEntries(needed) }));
  expect(needed.length).toBeGreaterThan(100);
  expect(existsSync('npm-shrinkwrap.json')).toBe(false);
});
