import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { jsonLines } from './generate/json-lines.ts';

const SETTINGS = { optimizer: { enabled: true, runs: 200 }, evmVersion: 'prague' } as const;
/**
 * The bytes run on chains without the opcodes of Shanghai and Cancun, and only code changes them: each change moves the
 * factory and all of its addresses (Decision 393).
 */
const DEPOSIT_SETTINGS = {
  ...SETTINGS,
  evmVersion: 'paris',
  metadata: { appendCBOR: false, bytecodeHash: 'none' },
} as const;

/** Contracts with common settings. */
interface Room {
  /** Folder of the contracts, from the root of the repository. */
  readonly sources: string;
  readonly artifacts: string;
  readonly settings: object;
}

const ROOMS: readonly Room[] = [
  { sources: 'src/devnet/contracts/', artifacts: 'generated/devnet/', settings: SETTINGS },
  { sources: 'src/deposits/contracts/', artifacts: 'generated/deposits/', settings: DEPOSIT_SETTINGS },
  { sources: 'scripts/fleet/hostile/contracts/', artifacts: 'generated/hostile/', settings: SETTINGS },
  { sources: 'test/deposits/contracts/', artifacts: 'generated/deposit-tests/', settings: SETTINGS },
];
const ROOT = new URL('../', import.meta.url);
/** Digest of a room when its artifacts were last up to date. Compiling takes half of the time of `generate.ts`. */
const COMPILED = new URL('node_modules/.cache/compiled-contracts/', ROOT);
const SOURCE_FOLDER = 'contracts/';

const SELECTED = [
  'abi',
  'metadata',
  'evm.bytecode.object',
  'evm.deployedBytecode.object',
  'evm.deployedBytecode.immutableReferences',
] as const;

type Sources = Record<string, { content: string }>;

interface CompiledContract {
  abi: unknown[];
  metadata: string;
  evm: {
    bytecode: { object: string };
    deployedBytecode: { object: string; immutableReferences?: Record<string, unknown[]> };
  };
}

interface CompilerOutput {
  errors?: { severity: string; formattedMessage: string }[];
  contracts?: Record<string, Record<string, CompiledContract>>;
}

/** Used part of the compiler's JavaScript interface, whose own types are `any`. */
interface Compiler {
  version(): string;
  compile(
    input: string,
    callbacks: { import(path: string): { contents: string } | { error: string } },
  ): string;
}

/** `check` writes nothing. `isFresh` compiles also what has not changed since it was last compiled. */
interface Compilation {
  readonly check: boolean;
  readonly isFresh?: boolean;
}

/**
 * Compiles every contract of a room to `<Name>.json` in the folder of its artifacts. Returns the names of the files that
 * were stale, missing or left over.
 * @throws Error with the compiler's own messages when a contract does not compile.
 */
export async function compileContracts(compilation: Compilation): Promise<string[]> {
  const stale: string[] = [];
  for (const room of ROOMS) stale.push(...(await compileRoom(room, compilation)));
  return stale;
}

async function compileRoom(room: Room, { check, isFresh = false }: Compilation): Promise<string[]> {
  const known = new URL(room.artifacts.replaceAll('/', '-'), COMPILED);
  const knownDigest = isFresh ? undefined : await readFile(known, 'utf8').catch(() => undefined);
  if (knownDigest === (await digestOf(room))) return [];
  const folder = new URL(room.artifacts, ROOT);
  const wanted = await artifacts(room);
  await mkdir(folder, { recursive: true });
  const present = (await readdir(folder)).filter(file => file.endsWith('.json'));

  const stale: string[] = [];
  for (const [file, content] of wanted) {
    const current = present.includes(file) ? await readFile(new URL(file, folder), 'utf8') : undefined;
    if (current === content) continue;
    stale.push(file);
    if (!check) await writeFile(new URL(file, folder), content);
  }
  for (const file of present.filter(name => !wanted.has(name))) {
    stale.push(file);
    if (!check) await rm(new URL(file, folder));
  }
  if (!check || stale.length === 0) {
    await mkdir(COMPILED, { recursive: true });
    await writeFile(known, await digestOf(room));
  }
  return stale.map(file => room.artifacts + file);
}

/** Digest of all that the artifacts of a room depend on, and of the artifacts themselves. */
async function digestOf({ sources, artifacts }: Room): Promise<string> {
  const hash = createHash('sha256');
  for (const file of [fileURLToPath(import.meta.url), new URL('package-lock.json', ROOT)])
    hash.update(await readFile(file));
  for (const folder of [sources, artifacts]) {
    const url = new URL(folder, ROOT);
    for (const file of (await readdir(url).catch(() => [])).toSorted())
      hash.update(`${file}\0`).update(await readFile(new URL(file, url)));
  }
  return hash.digest('hex');
}

async function artifacts(room: Room): Promise<Map<string, string>> {
  const require = createRequire(import.meta.url);
  const compiler: Compiler = require('solc');
  const sources = await sourcesIn(new URL(room.sources, ROOT));
  const read: Record<string, string> = {};
  const output: CompilerOutput = JSON.parse(
    compiler.compile(
      JSON.stringify({
        language: 'Solidity',
        sources,
        settings: { ...room.settings, outputSelection: { '*': { '*': SELECTED } } },
      }),
      {
        import: path => {
          const contents = readFileSync(require.resolve(path), 'utf8');
          read[path] = contents;
          return { contents };
        },
      },
    ),
  );
  // Warnings are ignored: `Ephemeral` self-destructs on purpose, which the compiler reports as deprecated.
  const errors = (output.errors ?? []).filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(error => error.formattedMessage).join('\n'));

  const files = new Map<string, string>();
  for (const [sourcePath, { content }] of Object.entries(sources)) {
    const name = sourcePath.slice(SOURCE_FOLDER.length, -'.sol'.length);
    const compiled = output.contracts?.[sourcePath]?.[name];
    if (compiled === undefined) throw new Error(`${sourcePath} does not define a contract named ${name}`);
    files.set(`${name}.json`, artifact(compiled, { name, sourcePath, content }));
  }
  return files;

  function artifact(
    { abi, metadata, evm }: CompiledContract,
    { name, sourcePath, content }: { name: string; sourcePath: string; content: string },
  ): string {
    const dependencies: string[] = Object.keys(JSON.parse(metadata).sources).filter(
      path => path !== sourcePath,
    );
    const additionalSources = dependencies
      .toSorted()
      .map(path => [path, sources[path]?.content ?? read[path]]);
    const record = {
      name,
      sourcePath,
      source: content,
      additionalSources: Object.fromEntries(additionalSources),
      compilerVersion: `v${compiler.version().replace('.Emscripten.clang', '')}`,
      settings: room.settings,
      abi,
      bytecode: `0x${evm.bytecode.object}`,
      deployedBytecode: `0x${evm.deployedBytecode.object}`,
      immutableReferences: evm.deployedBytecode.immutableReferences ?? {},
    };
    return jsonLines(record, 1);
  }
}

async function sourcesIn(folder: URL): Promise<Sources> {
  const files = (await readdir(folder)).filter(file => file.endsWith('.sol')).toSorted();
  const entries = files.map(async file => {
    const content = await readFile(new URL(file, folder), 'utf8');
    return [`${SOURCE_FOLDER}${file}`, { content }] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const check = process.argv.includes('--check');
  const stale = await compileContracts({ check });
  for (const file of stale) console.log(check ? `stale: ${file}` : `written: ${file}`);
  if (check && stale.length > 0) process.exitCode = 1;
}
