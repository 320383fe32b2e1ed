import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { type Representation, represent } from '../http/representation.ts';
import { sendRepresentation } from '../http/send.ts';

/** Folders of browser files, by the prefix under which modules import them: `#pages/browser/`. */
export type AssetFolders = Readonly<Record<string, URL>>;

/** Files that pages load. Names are those of imports: `#pages/browser/tokens.css`, `preact`. */
export interface Assets {
  /** Address of a file. @throws Error when there is no such file. */
  readonly path: (name: string) => string;
  /** Text of the import map of every page. */
  readonly importMap: string;
  /** Addresses of a module and of all modules that it imports, for preloading. */
  readonly modulesOf: (name: string) => readonly string[];
  /** Sends the file at a path; false when there is none. */
  readonly send: (ctx: Context, path: string) => Promise<boolean>;
}

/** Path prefix of all page files. */
const ASSETS_PATH = '/assets/';

/** Files of installed packages: a module of the package, and a file in that module's folder. */
const PACKAGES: Readonly<Record<string, readonly [main: string, file: string]>> = {
  preact: ['preact', 'preact.mjs'],
  'preact/hooks': ['preact/hooks', 'hooks.mjs'],
  htm: ['htm', 'htm.mjs'],
  'htm/preact': ['htm/preact', 'index.mjs'],
  'openapi-fetch': ['openapi-fetch', 'index.mjs'],
  uplot: ['uplot', 'uPlot.esm.js'],
  'uplot.css': ['uplot', 'uPlot.min.css'],
};

const SCRIPT = 'text/javascript; charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': SCRIPT,
  '.mjs': SCRIPT,
  '.ts': SCRIPT,
  '.svg': 'image/svg+xml',
};
const HASH_CHARACTERS = 16;
/** Files are compressed once and kept in memory. */
const KEPT = { brotliQuality: 9 };
const TYPE_IMPORT = /^(?:import|export) type\s[^;]*;/gm;
const IMPORTED = /\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm;

interface Asset {
  readonly type: string;
  readonly extension: string;
  readonly content: Buffer;
}

/**
 * Reads the files of the folders and of the packages that pages use. Every address contains one hash over all files:
 * modules can import each other by name, and an address never changes its content, so browsers cache it for ever.
 */
export function readAssets(folders: AssetFolders): Assets {
  const assets = new Map([...filesOf(folders), ...packageFiles()]);
  const base = `${ASSETS_PATH}${hashOf(assets)}/`;
  const address = (name: string) => `${base}${name.replace('#', '')}`;
  const byAddress = new Map([...assets].map(([name, asset]) => [address(name), asset]));
  const prepared = new Map<Asset, Promise<Representation>>();

  return {
    path(name) {
      if (!assets.has(name)) throw new Error(`Pages have no file ${name}.`);
      return address(name);
    },
    importMap: JSON.stringify({
      imports: Object.fromEntries(
        [...Object.keys(folders), ...Object.keys(PACKAGES)].map(name => [name, address(name)]),
      ),
    }),
    modulesOf: name => [...reachable(assets, name)].map(address),
    async send(ctx, path) {
      const asset = byAddress.get(path);
      if (asset === undefined) return false;
      const representation = prepared.get(asset) ?? prepare(asset);
      prepared.set(asset, representation);
      sendRepresentation(ctx, await representation, {
        'Content-Type': asset.type,
        'Cache-Control': 'public, max-age=31536000, immutable',
        'X-Content-Type-Options': 'nosniff',
      });
      return true;
    },
  };
}

/** Registers the page files. Other paths are left to later routes. */
export function assetRoutes(router: Router, assets: Assets): void {
  router.all(new RegExp(`^${ASSETS_PATH}`), async (ctx, next) =>
    (await assets.send(ctx, ctx.path)) ? undefined : next(),
  );
}

/** Strips the types of a TypeScript module. The parser is loaded on first use, because loading takes time. */
async function prepare({ extension, content }: Asset): Promise<Representation> {
  if (extension !== '.ts') return represent(content, KEPT);
  const { transformSync } = await import('amaro');
  return represent(transformSync(content.toString(), { mode: 'strip-only' }).code, KEPT);
}

function* filesOf(folders: AssetFolders): Generator<[name: string, asset: Asset]> {
  for (const [prefix, folder] of Object.entries(folders)) {
    const names = readdirSync(fileURLToPath(folder), { recursive: true, encoding: 'utf8' });
    for (const name of names.toSorted()) {
      const asset = readAsset(fileURLToPath(new URL(name, folder)));
      if (asset !== undefined) yield [`${prefix}${name}`, asset];
    }
  }
}

function* packageFiles(): Generator<[name: string, asset: Asset]> {
  const { resolve } = createRequire(import.meta.url);
  for (const [name, [main, file]] of Object.entries(PACKAGES)) {
    const asset = readAsset(join(dirname(resolve(main)), file));
    if (asset !== undefined) yield [name, asset];
  }
}

/** Reads a file; undefined for a folder and for a type that browsers do not load. */
function readAsset(file: string): Asset | undefined {
  const extension = extname(file);
  const type = TYPES[extension];
  return type === undefined ? undefined : { type, extension, content: readFileSync(file) };
}

function hashOf(assets: ReadonlyMap<string, Asset>): string {
  const hash = createHash('sha256');
  for (const [name, { content }] of assets) hash.update(`${name} ${content.length} `).update(content);
  return hash.digest('hex').slice(0, HASH_CHARACTERS);
}

/** Names of a module and of all modules reachable from it, itself first. */
function reachable(assets: ReadonlyMap<string, Asset>, name: string, found = new Set<string>()): Set<string> {
  const asset = assets.get(name);
  if (asset === undefined || found.has(name)) return found;
  found.add(name);
  for (const [, from, bare] of asset.content.toString().replace(TYPE_IMPORT, '').matchAll(IMPORTED)) {
    reachable(assets, nameOf(from ?? bare ?? '', name), found);
  }
  return found;
}

/** Resolves an import specifier in `importer` to a module name. */
function nameOf(specifier: string, importer: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(importer), specifier) : specifier;
}
