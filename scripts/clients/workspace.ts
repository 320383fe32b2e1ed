import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Json, type JsonObject, list, operationsOf } from '#contract/contracts/document.ts';
import { isObject } from '#lib/json.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '..', '..');
const PROGRAMS = join(import.meta.dirname, 'programs');

/** Addresses of both services, and a key with write permission. */
export interface DescribedServices {
  readonly data: string;
  readonly payments: string;
  readonly key: string;
}

/** Folder in which clients are generated, compiled and run as in a user's project. */
export interface ClientWorkspace extends AsyncDisposable {
  /** Lints the description of each service and its variant with Redocly's strict rules. */
  lint(): Promise<void>;
  /** Runs every generator on the description of each service, and writes its TypeScript samples next to the types. */
  generate(): Promise<void>;
  /** Compiles the clients and the programs under `strict`. */
  compile(): Promise<void>;
  /** Runs a compiled program and returns what it printed. */
  run(program: string): Promise<string>;
}

/** Settings of a typical new TypeScript project for Node and browsers. */
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    target: 'es2022',
    lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'],
    module: 'nodenext',
    types: ['node'],
    skipLibCheck: true,
    rootDir: 'src',
    outDir: 'out',
  },
  include: ['src'],
};

/** Creates the folder, which is deleted on disposal. */
export async function clientWorkspace(services: DescribedServices): Promise<ClientWorkspace> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-clients-'));
  const source = join(folder, 'src');
  const descriptions = { data: services.data, payments: services.payments };
  await mkdir(source);
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module' }));
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  for (const program of await readdir(PROGRAMS)) {
    await copyFile(join(PROGRAMS, program), join(source, program));
  }

  async function command(file: string, args: readonly string[]): Promise<string> {
    const script = join(ROOT, 'node_modules', ...file.split('/'));
    try {
      const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
      const { stdout } = await run(process.execPath, [script, ...args], { cwd: folder, env });
      return stdout.trim();
    } catch (error) {
      throw new Error([`${file} ${args.join(' ')} failed`, ...outputOf(error)].join('\n'), { cause: error });
    }
  }

  return {
    async lint() {
      for (const url of Object.values(descriptions)) {
        for (const description of [`${url}/openapi.json`, `${url}/openapi.json?mintlify`]) {
          await command('@redocly/cli/bin/cli.js', ['lint', description, '--extends=recommended-strict']);
        }
      }
    },
    async generate() {
      for (const [name, url] of Object.entries(descriptions)) {
        const description = `${url}/openapi.json`;
        await command('openapi-typescript/bin/cli.js', [description, '-o', `src/${name}/tollgate.ts`]);
        await command('@hey-api/openapi-ts/bin/run.js', ['-i', description, '-o', `src/hey-api-${name}`]);
        const samples = await typescriptSamples(`${description}?mintlify`);
        for (const [id, text] of samples) {
          await writeFile(join(source, name, `${id}.ts`), text.replaceAll('YOUR_KEY', services.key));
        }
      }
    },
    compile: async () => void (await command('typescript/bin/tsc', ['-p', '.'])),
    run: async program => {
      const { data, payments, key } = services;
      const { stdout } = await run(process.execPath, [join('out', `${program}.js`), data, payments, key], {
        cwd: folder,
      });
      return stdout.trim();
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** TypeScript samples of a description by operationId. */
async function typescriptSamples(url: string): Promise<[id: string, text: string][]> {
  const description: Json = JSON.parse(await (await fetch(url)).text());
  return operationsOf(isObject(description) ? description : {}).flatMap(({ operation }) => {
    const samples = list(operation, 'x-codeSamples').filter((sample): sample is JsonObject =>
      isObject(sample),
    );
    return samples.flatMap(({ lang, source }): [string, string][] =>
      lang === 'typescript' ? [[String(operation.operationId), String(source)]] : [],
    );
  });
}

/** Output of a failed command. */
function outputOf(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  return ['stdout', 'stderr'].flatMap(name => {
    const text: unknown = Reflect.get(error, name);
    return typeof text === 'string' && text !== '' ? [text.trim()] : [];
  });
}
