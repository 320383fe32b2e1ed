import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EngineMissing, type EngineSearch, findEngine, type Machine } from '../../src/devnet/chain/engine.ts';
import { CannotStart } from '../../src/lib/startup-error.ts';

const NO_ANVIL = {
  anvilPackage: '@foundry-rs/anvil-for-no-platform',
  anvilCommand: 'anvil-that-is-not-installed',
};
const NOTHING = { ...NO_ANVIL, edrPackage: '@nomicfoundation/edr-for-no-platform' };

test('chains run on the package’s anvil where there is one', () => {
  expect(findEngine()).toMatchObject({ name: 'anvil', binary: expect.stringContaining('node_modules') });
});

test('without the package, chains run on a configured anvil', () => {
  const { binary } = findEngine();

  expect(findEngine({ ...NO_ANVIL, anvil: binary })).toMatchObject({ name: 'anvil', binary });
});

test('without any anvil, and on request, chains run on EDR', () => {
  const [instead, wanted] = [findEngine(NO_ANVIL), findEngine({ engine: 'edr' })];

  expect(instead).toMatchObject({ name: 'edr', binary: process.execPath });
  expect(wanted).toMatchObject({ name: 'edr', binary: process.execPath });
});

test('a requested engine is not replaced by the other one', () => {
  expect(() => findEngine({ ...NO_ANVIL, engine: 'anvil' })).toThrow(
    'need anvil (devnet.engine), which was not found',
  );
  expect(() => findEngine({ ...NOTHING, engine: 'edr' })).toThrow(
    'need edr (devnet.engine), which was not found',
  );
});

test('a fork that anvil does not have runs on EDR', () => {
  expect(findEngine({ hardfork: 'amsterdam' })).toMatchObject({ name: 'edr' });
  expect(() => findEngine({ hardfork: 'amsterdam', engine: 'anvil' })).toThrow(
    'anvil does not have the fork amsterdam: remove devnet.engine, or set it to "edr"',
  );
  expect(() => findEngine({ ...NOTHING, hardfork: 'amsterdam' })).toThrow('need edr');
});

test('EDR is not started where npm has left out its binary for this machine', () => {
  const machine: Machine = { platform: 'freebsd', arch: 'x64' };

  expect(() => findEngine({ ...NO_ANVIL, machine })).toThrow(EngineMissing);
  expect(() => findEngine({ engine: 'edr', machine })).toThrow(/on freebsd x64 leave devnet\.engine out$/);
});

test('npm installs EDR on any Node version, because the lock file requires none', () => {
  const lock: { packages: Record<string, { engines?: object }> } = JSON.parse(
    readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8'),
  );
  const entries = Object.entries(lock.packages).filter(([path]) =>
    path.startsWith('node_modules/@nomicfoundation/edr'),
  );

  expect(entries).toHaveLength(8);
  expect(entries.filter(([, { engines }]) => engines !== undefined)).toEqual([]);
});

test.for<[Machine, RegExp]>([
  [
    { platform: 'linux', arch: 'x64' },
    /on Linux x64 run "npm ci" .*, or install Foundry .* PATH, .* ANVIL_BIN$/,
  ],
  [{ platform: 'linux', arch: 'arm64' }, /on Linux arm64 run "npm ci" .*with Node 24 or newer .*Foundry/],
  [{ platform: 'darwin', arch: 'arm64' }, /on macOS arm64 run "npm ci" .*https:\/\/getfoundry\.sh/],
  [{ platform: 'win32', arch: 'x64' }, /on Windows x64 run "npm ci" .*anvil\.exe.*foundry\/releases/],
  [{ platform: 'win32', arch: 'arm64' }, /on Windows arm64 put the anvil\.exe/],
  [{ platform: 'freebsd', arch: 'x64' }, /on freebsd x64 install Foundry/],
])('without any engine the message says in one line how to install one: %o', ([machine, message]) => {
  const search: EngineSearch = { ...NOTHING, machine, anvil: join(import.meta.dirname, 'anvil') };

  expect(() => findEngine(search)).toThrow(message);
  expect(() => findEngine(search)).not.toThrow(/\n/);
  expect(() => findEngine(search)).toThrow(CannotStart);
});
