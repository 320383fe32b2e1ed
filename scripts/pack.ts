/**
 * Compiles the sources into `dist/`, which `npm pack` puts into the package: Node strips no types below node_modules.
 * Also writes `npm-shrinkwrap.json`, so that an installation gets the tested version of every package. npm runs this as
 * `prepack` and removes both with `postpack`. A checkout runs its sources and does not need them.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { build } from '#lib/version.ts';

const ROOT = join(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');
/** Files that the program loads. Declarations and Solidity are needed for development only. */
const PACKED = ['src/**/*.{ts,css,csv,svg}', 'generated/**/*.{ts,cjs,json}'];
/** Contracts of scripts and tests. */
const NOT_PACKED = ['generated/{deposit-tests,hostile}/**'];
const OPTIONS: ts.CompilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};
/** URL of a module that a thread or a process starts with. The compiler does not rewrite it. */
const MODULE_ADDRESS = /(new URL\('\.{1,2}\/[^']+)\.ts(', import\.meta\.url\))/g;

/** Name of a source file, which the package would not have. */
const SOURCE_NAME = /(['"`])\.{1,2}\/[^'"`\s]*\.ts\1/;

interface Manifest {
  readonly imports: Readonly<Record<string, string>>;
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly dev?: boolean }>>;
}

rmSync(DIST, { recursive: true, force: true });
for (const file of globSync(PACKED, { cwd: ROOT, exclude: NOT_PACKED }).filter(
  name => !name.endsWith('.d.ts'),
)) {
  if (file.endsWith('.ts')) write(file.replace(/\.ts$/, '.js'), compiled(file));
  // Modules of pages stay TypeScript, because the server strips their types.
  if (!file.endsWith('.ts') || file.includes('/browser/')) cpSync(join(ROOT, file), placeOf(file));
}
write('package.json', JSON.stringify(manifest(), undefined, 2));
// Last, because npm would install from this file instead of package-lock.json if a failure left it in a checkout.
writeFileSync(join(ROOT, 'npm-shrinkwrap.json'), JSON.stringify(shrinkwrap(), undefined, 2));

function compiled(file: string): string {
  const { outputText } = ts.transpileModule(readFileSync(join(ROOT, file), 'utf8'), {
    fileName: file,
    compilerOptions: OPTIONS,
  });
  const text = outputText.replace(MODULE_ADDRESS, '$1.js$2');
  const [left] = file.includes('/browser/') ? [] : (SOURCE_NAME.exec(text) ?? []);
  if (left !== undefined) throw new Error(`${file} names ${left}, which no package has`);
  return text;
}

/** Manifest whose subpath imports name the compiled files below `dist/` in place of TypeScript files. */
function manifest() {
  const { imports }: Manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const own = Object.entries(imports).filter(([, folder]) => /^\.\/(src|generated)\//.test(folder));
  const compiledOnes = own.map(([name, folder]) => [`${name}.ts`, `${folder}.js`]);
  return { type: 'module', ...build(), imports: Object.fromEntries([...compiledOnes, ...own]) };
}

/** The locked packages without those of development. */
function shrinkwrap() {
  const lock: Lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const packages = Object.entries(lock.packages).filter(([, { dev }]) => dev !== true);
  return { ...lock, packages: Object.fromEntries(packages) };
}

function write(file: string, text: string): void {
  writeFileSync(placeOf(file), text);
}

function placeOf(file: string): string {
  const place = join(DIST, file);
  mkdirSync(dirname(place), { recursive: true });
  return place;
}
