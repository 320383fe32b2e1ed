import { availableParallelism } from 'node:os';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { refusal } from './refusal.ts';
import { writeConfig } from './write-config.ts';

const CHAIN = `
chains:
  - id: 1
    name: A
    native: { symbol: A }
    rpc: ["http://127.0.0.1:1"]
`;

function rolesOf(text: string, argv: readonly string[] = []) {
  return loadConfig({ file: writeConfig(text), env: {}, argv }).roles;
}

function findingsOf(text: string, argv: readonly string[] = []) {
  const { findings } = refusal(() => loadConfig({ file: writeConfig(text), env: {}, argv }));
  return findings.map(({ path, line, message }) => ({ path, line, message }));
}

test('a process has every role by default', () => {
  expect(rolesOf(CHAIN)).toEqual(['data', 'indexer', 'payments', 'settlement', 'delivery']);
  expect(rolesOf(`roles: [delivery, data]${CHAIN}`)).toEqual(['data', 'delivery']);
  expect(rolesOf(`roles: [delivery, data]${CHAIN}`, ['--role', 'settlement'])).toEqual(['settlement']);
  expect(rolesOf(`roles: [delivery]${CHAIN}`, ['--only', 'data'])).toEqual(['data', 'indexer']);
});

test('an unknown role in the file is refused with its line and a suggestion', () => {
  expect(findingsOf(`log: {}\nroles: [data, indexr]${CHAIN}`)).toEqual([
    {
      path: 'roles[1]',
      line: 2,
      message: 'must be one of data, indexer, payments, settlement, delivery; did you mean indexer?',
    },
  ]);
  expect(findingsOf(`roles: []${CHAIN}`)).toMatchObject([{ path: 'roles', line: 1 }]);
  expect(findingsOf(`roles: [data, data]${CHAIN}`)).toMatchObject([{ path: 'roles', line: 1 }]);
});

test('a file that is a list is refused also with roles on the command line', () => {
  expect(findingsOf('[]\n', ['--only', 'data'])).toEqual([
    { path: '', line: 1, message: 'must be an object' },
  ]);
});

test('embedded chains are refused unless the process has all roles of their service', () => {
  expect(findingsOf('roles: [data]\n')).toEqual([
    {
      path: 'roles',
      line: 1,
      message: 'needs indexer as well: no other process has the embedded chains',
    },
  ]);
  expect(findingsOf(`devnet: {}${CHAIN}`, ['--role', 'delivery'])).toMatchObject([
    { path: 'roles', message: expect.stringMatching(/^needs payments, settlement as well/) },
  ]);
  expect(rolesOf('', ['--only', 'payments'])).toEqual(['payments', 'settlement', 'delivery']);
});

test('a database in memory is refused when a role of its service runs in another process', () => {
  const index = `${CHAIN}    backends:\n      - { kind: index, database: "sqlite::memory:" }\n`;
  const payments = `payments: { database: "sqlite::memory:" }${CHAIN}`;

  expect(findingsOf(index, ['--role', 'data'])).toEqual([
    {
      path: 'chains[0].backends[0].database',
      line: 8,
      message:
        'must be a file or a PostgreSQL database, because indexer of data would run in another process',
    },
  ]);
  expect(findingsOf(payments, ['--role', 'payments,settlement'])).toMatchObject([
    { path: 'payments.database', line: 1, message: expect.stringContaining('delivery of payments') },
  ]);
  expect(rolesOf(index, ['--only', 'payments'])).toEqual(['payments', 'settlement', 'delivery']);
});

test('there is one worker, the number in the file, or one per core', () => {
  const workersOf = (text: string) => loadConfig({ file: writeConfig(text), env: {} }).workers;

  expect(workersOf(CHAIN)).toBe(1);
  expect(workersOf(`workers: 3${CHAIN}`)).toBe(3);
  expect(workersOf(`workers: auto${CHAIN}`)).toBe(availableParallelism());
  expect(findingsOf(`workers: many${CHAIN}`)).toEqual([
    { path: 'workers', line: 1, message: 'must be a whole number from 1 to 256, or auto' },
  ]);
  expect(findingsOf(`workers: 0${CHAIN}`)).toMatchObject([{ path: 'workers', line: 1 }]);
});

test('several workers are refused without shared storage, with the setting and its line', () => {
  const embedded = {
    path: 'workers',
    line: 1,
    message: 'must be 1 with embedded chains, which belong to one process',
  };
  const shared = 'must be a file or a PostgreSQL database, because workers share it';
  const index = `${CHAIN}    backends: [{ kind: index, database: "sqlite::memory:" }]\n`;

  expect(findingsOf('workers: 2\n')).toEqual([embedded]);
  expect(findingsOf(`workers: auto\ndevnet: {}${CHAIN}`)).toEqual([embedded]);
  expect(findingsOf(`workers: 2\npayments: { database: "sqlite::memory:" }${CHAIN}`)).toEqual([
    { path: 'payments.database', line: 2, message: shared },
  ]);
  expect(findingsOf(`workers: 2${index}`)).toMatchObject([
    { path: 'chains[0].backends[0].database', message: shared },
  ]);
});
