import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** SQL with every column named by a statement of knex's builder. */
export interface BuilderStatement {
  /** File and line, such as `src/payments/retention.ts:101`. */
  readonly place: string;
  readonly text: string;
}

/** Names of the handles that builders start from, in all of `src`. */
const HANDLES = ['handle', 'db'];

/** Columns, conflicts and conditions named by the calls of one chain. */
interface Chain {
  readonly table: string;
  readonly columns: Set<string>;
  conflict: string | undefined;
  condition: string | undefined;
}

/**
 * The statements of knex's builder, which checks neither names in strings nor extra fields of variables.
 * @throws Error for an unknown call
 */
export function builderStatements(): BuilderStatement[] {
  const { checker, files } = sourceProgram();
  const found: BuilderStatement[] = [];

  const visit = (file: ts.SourceFile, path: string) => (node: ts.Node) => {
    ts.forEachChild(node, visit(file, path));
    const table = tableOf(node);
    if (table === undefined) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const place = `${path}:${line + 1}`;
    const chain: Chain = { table, columns: new Set(), conflict: undefined, condition: undefined };
    follow(node, { chain, checker, place });
    found.push({ place, text: textOf(chain) });
  };

  for (const { path, source } of files) ts.forEachChild(source, visit(source, path));
  return found;
}

/** The table of `handle('table')`; undefined for any other node. */
function tableOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined;
  const [table] = node.arguments;
  if (!HANDLES.includes(node.expression.text) || table === undefined) return undefined;
  return ts.isStringLiteral(table) ? table.text : undefined;
}

interface Reading {
  readonly chain: Chain;
  readonly checker: ts.TypeChecker;
  readonly place: string;
}

/** Records the calls on a node, and on the variable it is assigned to. */
function follow(node: ts.Node, reading: Reading): void {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && ts.isCallExpression(parent.parent)) {
    note(parent.name.text, parent.parent.arguments, reading);
    follow(parent.parent, reading);
  } else if (ts.isVariableDeclaration(parent) && ts.isIdentifier(parent.name)) {
    const { text } = parent.name;
    const visit = (use: ts.Node) => {
      if (ts.isIdentifier(use) && use.text === text && use !== parent.name) follow(use, reading);
      ts.forEachChild(use, visit);
    };
    if (reading.checker.typeToString(reading.checker.getTypeAtLocation(node)).includes('QueryBuilder'))
      visit(parent.parent.parent.parent);
  }
}

function note(method: string, values: ts.NodeArray<ts.Expression>, reading: Reading): void {
  const { chain, place } = reading;
  const [first] = values;
  if (
    first === undefined &&
    ['delete', 'clone', 'ignore', 'merge', 'onConflict', 'forShare'].includes(method)
  )
    return;
  if (first !== undefined && method === 'onConflict') {
    chain.conflict = isRaw(first)
      ? namesIn(first.arguments[0], reading).join()
      : `(${namesIn(first, reading).join(', ')})`;
  } else if (first !== undefined && method === 'whereRaw') {
    chain.condition = namesIn(first, reading).join();
  } else if (
    first !== undefined &&
    [
      'where',
      'whereIn',
      'whereNull',
      'whereNotNull',
      'update',
      'insert',
      'merge',
      'returning',
      'select',
      'first',
      'orderBy',
    ].includes(method)
  ) {
    for (const name of namesIn(first, reading)) chain.columns.add(name);
  } else throw new Error(`${place}: the call of ${method} is not known.`);
}

function isRaw(node: ts.Expression): node is ts.CallExpression {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === 'raw'
  );
}

/** Column names in a value, from its type: a literal, the elements of a list, or the keys of rows. */
function namesIn(node: ts.Expression | undefined, { checker, place }: Reading): string[] {
  if (node === undefined) return [];
  if (ts.isArrayLiteralExpression(node)) {
    return node.elements.flatMap(element =>
      namesIn(ts.isSpreadElement(element) ? element.expression : element, { checker, place, chain: NONE }),
    );
  }
  if (ts.isStringLiteralLike(node)) return [node.text];
  const type = checker.getTypeAtLocation(node);
  const isList = checker.isArrayLikeType(type);
  const element = (isList ? checker.getIndexTypeOfType(type, ts.IndexKind.Number) : undefined) ?? type;
  const parts = element.isUnion() ? element.types : [element];
  const names = parts.flatMap(part =>
    part.isStringLiteral() ? [part.value] : checker.getPropertiesOfType(part).map(({ name }) => name),
  );
  if (names.length === 0 || names.includes('charAt'))
    throw new Error(`${place}: no names are known for \`${node.getText()}\`.`);
  return names;
}

const NONE: Chain = { table: '', columns: new Set(), conflict: undefined, condition: undefined };

function textOf({ table, columns, conflict, condition }: Chain): string {
  const own = [...new Set([...columns].map(name => name.replace(`${table}.`, '')))].join(', ');
  const read = `select ${own} from ${table} where 1 = 1`;
  if (conflict === undefined) return read;
  const [first] = own.split(',');
  const action =
    condition === undefined ? 'do nothing' : `do update set ${first} = excluded.${first} where ${condition}`;
  return `insert into ${table} (${own}) ${read} on conflict ${conflict} ${action}`;
}

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The project's sources with their types. */
export interface SourceProgram {
  readonly checker: ts.TypeChecker;
  /** The files below `src`, with their paths from the project's folder. */
  readonly files: readonly { readonly path: string; readonly source: ts.SourceFile }[];
}

let latest: WeakRef<SourceProgram> | undefined;

/**
 * Parses the sources, which takes some seconds. Calls in a row share the result. It is not kept afterwards, because it
 * takes some hundred megabytes.
 */
export function sourceProgram(): SourceProgram {
  const program = latest?.deref() ?? parsed();
  latest = new WeakRef(program);
  return program;
}

function parsed(): SourceProgram {
  const { config } = ts.readConfigFile(`${ROOT}/tsconfig.json`, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const isSource = (file: string) => file.startsWith(`${ROOT}/src/`);
  const program = ts.createProgram(fileNames.filter(isSource), options);
  const sources = program.getSourceFiles().filter(({ fileName }) => isSource(fileName));
  return {
    checker: program.getTypeChecker(),
    files: sources.map(source => ({ path: pathOf(source), source })),
  };
}

/** Path of a file from the project's folder, such as `src/main.ts`. */
export function pathOf({ fileName }: ts.SourceFile): string {
  return fileName.slice(ROOT.length + 1);
}
