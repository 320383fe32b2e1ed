import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { type Representation, represent } from '../http/representation.ts';
import { sendRepresentation } from '../http/send.ts';
import { pageScripts } from './page-scripts.ts';

/** Folders of browser files, by the prefix under which modules import them: `#pages/browser/`. */
type AssetFolders = Readonly<Record<string, URL>>;

/** Names of style sheets that pages load as one file, in order, by the name of that file. */
export type JoinedStyles = Readonly<Record<string, readonly string[]>>;

/** Files that pages load. Names are those of imports: `#pages/browser/tokens.css`, `preact`. */
export interface Assets {
  /** Address of a file, or of the script of a page's module. @throws Error when there is no such file. */
  readonly path: (name: string) => string;
  /** Text of the import map of every page, for dynamic imports and `import.meta.resolve`. */
  readonly importMap: string;
  /** Addresses of the scripts of a page's module, its own last. */
  readonly scriptsOf: (module: string) => readonly string[];
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
  'uplot.css': ['uplot', 'uPlot.min.css'],
};
/**
 * Package that pages import on first use. It has no minified module: this script defines a variable, and is a third of
 * the size of its module.
 */
const CHARTS = { name: 'uplot', main: 'uplot', file: 'uPlot.iife.min.js', end: '\nexport default uPlot;\n' };

const SCRIPT = 'text/javascript; charset=utf-8';
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': SCRIPT,
  '.mjs': SCRIPT,
  '.ts': SCRIPT,
  '.svg': 'image/svg+xml',
  '.map': 'application/json',
};
const HASH_CHARACTERS = 16;
/** Modules whose code is part of every script's form. */
const JOINING = ['joined-modules', 'page-scripts'];
/** Files are compressed once and kept in memory. */
const KEPT = { brotliQuality: 9 };

interface Asset {
  readonly type: string;
  readonly content: Buffer;
  /** Prefix of the folder that it is in; undefined for a file of a package. */
  readonly folder?: string;
}

/**
 * Reads the files of the folders and of the packages that pages use. Every address contains one hash over all files, so
 * an address never changes its content and browsers cache it for ever. Modules are joined into the scripts of pages.
 */
export function readAssets(folders: AssetFolders, styles: JoinedStyles): Assets {
  const assets = new Map([...filesOf(folders), ...packageFiles()]);
  const files = new Map([...assets].filter(([, { type }]) => type !== SCRIPT));
  for (const [name, names] of Object.entries(styles)) files.set(name, joinedStyle(assets, names));
  files.set(CHARTS.name, chartsPackage());
  const base = `${ASSETS_PATH}${hashOf([...assets, ...files])}/`;
  const address = (name: string) => `${base}${name.replace('#', '')}`;
  const byAddress = new Map([...files].map(([name, asset]) => [address(name), asset]));
  const modules = [...assets].filter(([, { type }]) => type === SCRIPT);
  const scripts = pageScripts(
    new Map(modules.map(([name, { content, folder }]) => [name, { text: content.toString(), folder }])),
    address,
  );
  const prepared = new Map<string, Promise<Representation>>();

  return {
    path(name) {
      if (files.has(name)) return address(name);
      if (!assets.has(name)) throw new Error(`Pages have no file ${name}.`);
      return scripts.addressesOf(name).at(-1) ?? '';
    },
    importMap: JSON.stringify({
      imports: Object.fromEntries([...Object.keys(folders), CHARTS.name].map(name => [name, address(name)])),
    }),
    scriptsOf: scripts.addressesOf,
    async send(ctx, path) {
      const content = byAddress.get(path)?.content ?? scripts.textAt(path);
      if (content === undefined) return false;
      const representation =
        prepared.get(path) ?? Promise.resolve(content).then(text => represent(text, KEPT));
      prepared.set(path, representation);
      sendRepresentation(ctx, await representation, {
        'Content-Type': byAddress.get(path)?.type ?? TYPES[extname(path)] ?? SCRIPT,
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

function* filesOf(folders: AssetFolders): Generator<[name: string, asset: Asset]> {
  for (const [folder, url] of Object.entries(folders)) {
    const names = readdirSync(fileURLToPath(url), { recursive: true, encoding: 'utf8' });
    for (const name of names.toSorted()) {
      const asset = readAsset(fileURLToPath(new URL(name, url)));
      if (asset !== undefined) yield [`${folder}${name}`, { ...asset, folder }];
    }
  }
}

function* packageFiles(): Generator<[name: string, asset: Asset]> {
  for (const [name, [main, file]] of Object.entries(PACKAGES)) {
    const asset = readAsset(packageFile(main, file));
    if (asset !== undefined) yield [name, asset];
  }
}

function packageFile(main: string, file: string): string {
  return join(dirname(createRequire(import.meta.url).resolve(main)), file);
}

/** Reads a file; undefined for a folder and for a type that browsers do not load. */
function readAsset(file: string): Asset | undefined {
  const type = TYPES[extname(file)];
  return type === undefined ? undefined : { type, content: readFileSync(file) };
}

function chartsPackage(): Asset {
  const script = readFileSync(packageFile(CHARTS.main, CHARTS.file));
  return { type: SCRIPT, content: Buffer.concat([script, Buffer.from(CHARTS.end)]) };
}

function joinedStyle(assets: ReadonlyMap<string, Asset>, names: readonly string[]): Asset {
  const sheets = names.map(name => {
    const sheet = assets.get(name);
    if (sheet === undefined) throw new Error(`Pages have no style sheet ${name}.`);
    return sheet.content;
  });
  return { type: TYPES['.css'] ?? '', content: Buffer.concat(sheets) };
}

/** Hash of all files, and of the code that joins them. */
function hashOf(assets: readonly (readonly [name: string, asset: Asset])[]): string {
  const hash = createHash('sha256');
  for (const [name, { content }] of assets) hash.update(`${name} ${content.length} `).update(content);
  const ending = extname(import.meta.filename);
  for (const name of JOINING) hash.update(readFileSync(join(import.meta.dirname, `${name}${ending}`)));
  return hash.digest('hex').slice(0, HASH_CHARACTERS);
}
