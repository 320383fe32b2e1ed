import { posix } from 'node:path';
import { setImmediate as afterOtherWork } from 'node:timers/promises';
import { joinModules } from './joined-modules.ts';

/** Module before its types are removed. */
interface SourceModule {
  /** Module folder that it is in: `#pages/browser/`. Undefined for a module of a package. */
  readonly folder?: string | undefined;
  readonly text: string;
}

/** Scripts that pages load. Addresses of page modules are those of their scripts. */
export interface PageScripts {
  /** Addresses of the scripts of a page, its own last. @throws Error when the module is not one of a page. */
  readonly addressesOf: (module: string) => readonly string[];
  /** Text of a script or source map; undefined when there is none at the address. */
  readonly textAt: (address: string) => Promise<string> | undefined;
}

interface PageScript {
  readonly address: string;
  /** Names of its modules, in the order of evaluation. */
  readonly modules: readonly string[];
  /** Script with the modules that several pages of a folder use. */
  readonly shared?: PageScript | undefined;
}

const TYPE_IMPORT = /^(?:import|export) type\s[^;]*;/gm;
const IMPORTED = /\bfrom\s*['"]([^'"]+)['"]|^import\s*['"]([^'"]+)['"]/gm;
const MAP_SUFFIX = '.map';
/**
 * A worker loads one script only, because import maps do not apply to it. A page finds it by
 * `import.meta.resolve('#data/pages/browser/…-worker.ts')`.
 */
const WORKER = /-worker\.ts$/;
/** A page loads the texts of one language by a dynamic import. They import nothing but types (Decision 445). */
const LANGUAGE = /\/languages\/[a-z]{2}\.ts$/;

/**
 * Joins modules into scripts. A module that no other imports belongs to a page, or to a worker if its name ends in
 * `-worker.ts`. A page loads one script of its own, and one with the modules that other pages of its folder use too, so
 * a browser loads no module twice. Scripts are created when they are first requested.
 */
export function pageScripts(
  modules: ReadonlyMap<string, SourceModule>,
  addressOf: (name: string) => string,
): PageScripts {
  const ids = new Map([...modules.keys()].map((name, index) => [name, `module_${index}`]));
  const code = new Map<string, Promise<string>>();
  let planned: ReadonlyMap<string, PageScript> | undefined;
  const scripts = () => {
    planned ??= new Map(planOf(modules, addressOf).map(script => [script.address, script]));
    return planned;
  };

  return {
    addressesOf(module) {
      const script = scripts().get(addressOf(module));
      if (script === undefined) throw new Error(`${module} is not the module of a page.`);
      const { shared } = script;
      return shared === undefined ? [script.address] : [shared.address, script.address];
    },
    textAt(address) {
      const isMap = address.endsWith(MAP_SUFFIX);
      const script = scripts().get(isMap ? address.slice(0, -MAP_SUFFIX.length) : address);
      return script && joined(script).then(({ code: text, map }) => (isMap ? map : text));
    },
  };

  async function joined({ address, modules: names, shared }: PageScript) {
    const [only = ''] = names;
    if (LANGUAGE.test(only)) return { code: await codeOf(only), map: '' };
    const parts: { name: string; code: string; source: string }[] = [];
    for (const name of names) parts.push({ name, code: await codeOf(name), source: textOf(name) });
    return joinModules({
      modules: parts,
      idOf,
      nameOf,
      from: shared && { address: shared.address, names: shared.modules },
      isShared: [...scripts().values()].some(other => other.shared?.address === address),
      mapAddress: `${address}${MAP_SUFFIX}`,
    });
  }

  function idOf(name: string): string {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`Pages have no module ${name}.`);
    return id;
  }

  function codeOf(name: string): Promise<string> {
    const known = code.get(name) ?? stripped(name, textOf(name));
    code.set(name, known);
    return known;
  }

  function textOf(name: string): string {
    return modules.get(name)?.text ?? '';
  }
}

/** Removes the types of a module. The parser is loaded on first use, because loading takes time. */
async function stripped(name: string, text: string): Promise<string> {
  if (!name.endsWith('.ts')) return text;
  const { transformSync } = await import('amaro');
  await afterOtherWork();
  return transformSync(text, { mode: 'strip-only' }).code;
}

function planOf(
  modules: ReadonlyMap<string, SourceModule>,
  addressOf: (name: string) => string,
): PageScript[] {
  const imports = new Map(
    [...modules].map(([name, { text }]) => [name, importsOf(name, text).filter(one => modules.has(one))]),
  );
  const imported = new Set([...imports.values()].flat());
  const entries = [...modules].filter(([name]) => !imported.has(name) || LANGUAGE.test(name));
  const planned: PageScript[] = [];
  for (const [folder, pages] of Map.groupBy(entries, ([, module]) => module.folder ?? '')) {
    const graphs = new Map(pages.map(([name]) => [name, evaluated(imports, name)]));
    const uses = [...graphs].filter(([name]) => !isAlone(name)).flatMap(([, names]) => names);
    const counts = Map.groupBy(uses, name => name);
    const common = [...counts].flatMap(([name, { length }]) => (length > 1 ? [name] : []));
    const shared =
      common.length === 0 ? undefined : { address: addressOf(`${folder}shared.js`), modules: common };
    if (shared !== undefined) planned.push(shared);
    for (const [name, names] of graphs) {
      const address = addressOf(name);
      if (isAlone(name)) planned.push({ address, modules: names });
      else
        planned.push({
          address,
          modules: names.filter(one => !common.includes(one)),
          shared: names.some(one => common.includes(one)) ? shared : undefined,
        });
    }
  }
  return planned;
}

/** True for a module that a page loads later, as a script without a shared one. */
function isAlone(name: string): boolean {
  return WORKER.test(name) || LANGUAGE.test(name);
}

/** Modules reachable from one, in the order of evaluation, itself last. */
function evaluated(imports: ReadonlyMap<string, readonly string[]>, entry: string): string[] {
  const found = new Set<string>();
  const open = new Set<string>();
  const visit = (name: string) => {
    if (found.has(name)) return;
    if (open.has(name)) throw new Error(`Modules import each other: ${[...open, name].join(', ')}.`);
    open.add(name);
    for (const next of imports.get(name) ?? []) visit(next);
    open.delete(name);
    found.add(name);
  };
  visit(entry);
  return [...found];
}

/** Names of the modules that a module imports statically, without types. */
function importsOf(name: string, text: string): string[] {
  return [...text.replace(TYPE_IMPORT, '').matchAll(IMPORTED)].map(([, from, bare]) =>
    nameOf(from ?? bare ?? '', name),
  );
}

/** Resolves an import specifier in `importer` to a module name. */
function nameOf(specifier: string, importer: string): string {
  return specifier.startsWith('.') ? posix.join(posix.dirname(importer), specifier) : specifier;
}
