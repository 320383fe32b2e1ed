import { type ExportSpecifier, type ImportSpecifier, parse } from 'es-module-lexer/js';

/** Module that is to be joined: JavaScript, and the text that a debugger shows for it, with the same lines. */
interface JoinedModule {
  readonly name: string;
  readonly code: string;
  readonly source: string;
}

/** Script of several modules, and its source map. */
interface JoinedScript {
  readonly code: string;
  readonly map: string;
}

interface JoiningOptions {
  /** The modules in the order of their evaluation: each one after those that it imports. */
  readonly modules: readonly JoinedModule[];
  /** Identifiers of all modules of the page by name, for those of other scripts too. */
  readonly idOf: (name: string) => string;
  /** Resolves the specifier of an import. */
  readonly nameOf: (specifier: string, importer: string) => string;
  /** Other script that has the remaining modules, and its address. */
  readonly from?: { readonly address: string; readonly names: readonly string[] } | undefined;
  /** True when other scripts import these modules. */
  readonly isShared?: boolean;
  /** Address of the source map. */
  readonly mapAddress: string;
}

/**
 * Joins ES modules into one script, so that a page loads few files (Decision 439). Each module becomes a function that
 * returns its exports. Lines and columns of its code stay, so the source map only counts lines. Static imports and
 * exports may have any form except `export *` and cyclic imports; a dynamic import stays and loads a separate file.
 */
export function joinModules(options: JoiningOptions): JoinedScript {
  const { modules, idOf, from, isShared = false, mapAddress } = options;
  const parts: string[] = [];
  if (from !== undefined && from.names.length > 0)
    parts.push(`import { ${from.names.map(idOf).join(', ')} } from '${from.address}';`);
  const sections: object[] = [];
  let line = parts.length;
  for (const module of modules) {
    const body = functionBody(module, options);
    sections.push({ offset: { line: line + 1, column: 0 }, map: mapOf(module) });
    const text = `const ${idOf(module.name)} = (() => {\n${body}\n})();`;
    parts.push(text);
    line += linesOf(text);
  }
  if (isShared) parts.push(`export { ${modules.map(({ name }) => idOf(name)).join(', ')} };`);
  parts.push(`//# sourceMappingURL=${mapAddress}\n`);
  return { code: parts.join('\n'), map: JSON.stringify({ version: 3, sections }) };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const EXPORT_DEFAULT = /^export\s+default\b\s*/;
const EXPORT_LIST = /^export\s*\{/;
const DEFAULT_NAME = 'exported_default';

/** Body of a module's function. */
function functionBody({ name, code }: JoinedModule, options: JoiningOptions): string {
  const [imports, exports] = parse(code, name);
  const statics = imports.filter(({ d }) => d === -1);
  const edits: Edit[] = [];
  const returned: string[] = [];
  for (const one of statics) {
    const from = options.idOf(options.nameOf(one.n ?? '', name));
    edits.push({ start: one.ss, end: one.se, text: bindings(code, one, from) });
    for (const [imported, exported] of exportsFrom(code, one))
      returned.push(`${exported}: ${from}.${imported}`);
  }
  const own = exports.filter(({ ss }) => !statics.some(one => one.ss === ss));
  for (const one of own) {
    edits.push(withoutExport(code, one));
    returned.push(`${one.n}: ${one.ln ?? DEFAULT_NAME}`);
  }
  return `${edited(code, edits)}\nreturn { ${returned.join(', ')} };`;
}

/** Declarations that replace a static import: none for `export … from`. */
function bindings(code: string, { ss, s }: ImportSpecifier, from: string): string {
  const clause = code.slice(ss, s);
  if (clause.startsWith('export')) return '';
  const namespace = /\*\s*as\s+([\w$]+)/.exec(clause)?.[1];
  const main = /^import\s+([\w$]+)\s*(?:,|from)/.exec(clause)?.[1];
  const names = specifiersIn(clause).map(([imported, local]) => `${imported}: ${local}`);
  if (main !== undefined) names.push(`default: ${main}`);
  return [
    ...(namespace === undefined ? [] : [`const ${namespace} = ${from};`]),
    ...(names.length === 0 ? [] : [`const { ${names.join(', ')} } = ${from};`]),
  ].join(' ');
}

/** Names that `export … from` passes on. */
function exportsFrom(code: string, { ss, s }: ImportSpecifier): [imported: string, exported: string][] {
  const clause = code.slice(ss, s);
  return clause.startsWith('export') ? specifiersIn(clause) : [];
}

/** Pairs of names in braces: `{ a, b as c }`. */
function specifiersIn(clause: string): [name: string, as: string][] {
  const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? '';
  return list
    .split(',')
    .map(one => one.trim())
    .filter(one => one !== '')
    .map(one => {
      const [name = '', as = name] = one.split(/\s+as\s+/);
      return [name, as];
    });
}

/** Removes the export from a declaration, and a list of exports as a whole. */
function withoutExport(code: string, { ss, e }: ExportSpecifier): Edit {
  const statement = code.slice(ss);
  if (EXPORT_LIST.test(statement)) return { start: ss, end: code.indexOf('}', e - 1) + 1, text: '' };
  const [main] = EXPORT_DEFAULT.exec(statement) ?? [];
  return main === undefined
    ? { start: ss, end: ss + 'export'.length, text: '' }
    : { start: ss, end: ss + main.length, text: `const ${DEFAULT_NAME} = ` };
}

/** Applies edits. Lines stay where they are, and so do the columns after an edit that is not longer than its text. */
function edited(code: string, edits: readonly Edit[]): string {
  let result = '';
  let at = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    if (start < at) continue; // another name of the same list
    const removed = code.slice(start, end);
    result += code.slice(at, start) + text.padEnd(removed.includes('\n') ? 0 : removed.length);
    result += '\n'.repeat(linesOf(removed) - 1);
    at = end;
  }
  return result + code.slice(at);
}

/** Source map of a module whose lines did not move. */
function mapOf({ name, source }: JoinedModule): object {
  const sameLines = `AAAA${';AACA'.repeat(linesOf(source) - 1)}`;
  return {
    version: 3,
    sources: [name.replace('#', 'tollgate/')],
    sourcesContent: [source],
    names: [],
    mappings: sameLines,
  };
}

function linesOf(text: string): number {
  return text.split('\n').length;
}
