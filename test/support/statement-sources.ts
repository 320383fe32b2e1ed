import ts from 'typescript';
import { pathOf, sourceProgram } from './builder-statements.ts';

/** A column of a statement's row type. */
export interface RowColumn {
  readonly name: string;
  /** Types of its values except null: `string`, `number`, `boolean` or `Buffer`. */
  readonly kinds: readonly string[];
  /** False for a column of a type declared next to its statement. */
  readonly isDeclared: boolean;
}

/** A call that sends a statement: `rowsOf`, `execute`, `insertRows` or a handle's `raw`. */
export interface StatementSource {
  /** File and line, such as `src/payments/retention.ts:101`. */
  readonly place: string;
  /** The SQL texts that the call can send. */
  readonly texts: readonly string[];
  /** Empty for a call that reads no columns. */
  readonly columns: readonly RowColumn[];
}

/** Substitute SQL for an expression whose text is known only at run time; undefined for an unknown expression. */
export type StandIns = (expression: string, place: string) => string | undefined;

/** The folder of the index, which has its own database. */
export const INDEX = 'src/indexer/';
/** Files that send the statements of their callers. */
const SENDERS = ['src/db/query.ts', 'src/db/rows.ts'];
/** Statements that databases can prepare. The others run in every migration, or are parts of statements for knex. */
const STATEMENT = /^\s*(?:select|insert|update|delete|with)\b/i;

/**
 * All statements in the source files accepted by `isWanted`, by default all except the index. Those of knex's builder
 * are in `builderStatements`.
 * @throws Error for an expression within SQL that is neither constant nor known
 */
export function statementSources(
  standIns: StandIns,
  isWanted = (file: string) => !file.startsWith(INDEX),
): StatementSource[] {
  const { checker, files } = sourceProgram();
  const found: StatementSource[] = [];

  const visit = (file: ts.SourceFile) => (node: ts.Node) => {
    ts.forEachChild(node, visit(file));
    if (!ts.isCallExpression(node)) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const place = `${pathOf(file)}:${line + 1}`;
    const texts = textsSent(node, { checker, standIns, place })?.filter(text => STATEMENT.test(text)) ?? [];
    if (texts.length > 0) found.push({ place, texts, columns: columnsOf(node) });
  };

  const columnsOf = (call: ts.CallExpression): RowColumn[] => {
    const rows = checker.getAwaitedType(checker.getTypeAtLocation(call));
    const row = rows && checker.getIndexTypeOfType(rows, ts.IndexKind.Number);
    if (row === undefined) return [];
    const columns = checker.getPropertiesOfType(checker.getBaseConstraintOfType(row) ?? row);
    const given = columns.filter(({ flags }) => (flags & ts.SymbolFlags.Optional) === 0);
    return given.map(column => ({
      name: column.name,
      kinds: kindsOf(checker.getTypeOfSymbolAtLocation(column, call), checker),
      isDeclared: column.declarations?.some(one => isOfTables(one)) === true,
    }));
  };

  for (const { path, source } of files) {
    if (isWanted(path) && !SENDERS.includes(path)) ts.forEachChild(source, visit(source));
  }
  return found;
}

/** Files with declarations of table columns. */
const DECLARED = [
  'src/db/lease.ts',
  `${INDEX}schema/block-tables.ts`,
  `${INDEX}schema/state-tables.ts`,
  `${INDEX}schema/tables.ts`,
  `${INDEX}schema/computed-columns.ts`,
];

/** True for a column of knex's `Tables`, of the index, or of every leased table. */
function isOfTables(node: ts.Node): boolean {
  const file = pathOf(node.getSourceFile());
  if (file.startsWith('src/payments/tables/') || DECLARED.includes(file)) return true;
  return (
    ts.findAncestor(node, one => ts.isInterfaceDeclaration(one) && one.name.text === 'Tables') !== undefined
  );
}

interface Reading {
  readonly checker: ts.TypeChecker;
  readonly standIns: StandIns;
  readonly place: string;
}

/** Every SQL text that a call can send; undefined for any other call. */
function textsSent({ expression, arguments: values }: ts.CallExpression, reading: Reading) {
  const [first, second] = values;
  if (ts.isPropertyAccessExpression(expression)) {
    if (expression.name.text !== 'raw' || first === undefined) return undefined;
    const isOther = ts.isTemplateExpression(first) && !STATEMENT.test(first.head.text);
    return isOther ? undefined : textsOf(first, reading);
  }
  if (!ts.isIdentifier(expression) || second === undefined) return undefined;
  if (['rowsOf', 'execute'].includes(expression.text)) return textsOf(second, reading);
  return expression.text === 'insertRows' ? [insertText(second, reading)] : undefined;
}

/** The text that `insertRows` sends for one row. */
function insertText(into: ts.Expression, reading: Reading): string {
  const [target] = ts.isIdentifier(into) ? (definitionsOf(into, reading.checker) ?? []) : [into];
  if (target === undefined || !ts.isObjectLiteralExpression(target))
    throw new Error(`${reading.place}: no table is known for \`${into.getText()}\`.`);
  const given = new Map(
    target.properties
      .filter(property => ts.isPropertyAssignment(property))
      .map(({ name, initializer }) => [name.getText(), initializer]),
  );
  const textOf = (name: string) => {
    const value = given.get(name);
    return value === undefined ? '' : (textsOf(value, reading)[0] ?? '');
  };
  const columns = given.get('columns');
  const names = columns && (elementTexts(columns, reading) ?? textsOf(columns, reading));
  return `insert into ${textOf('table')} (${names}) values (${names?.map(() => '?')}) ${textOf('suffix')}`;
}

/** Every text that an expression can evaluate to. */
function textsOf(node: ts.Expression, reading: Reading): string[] {
  if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return [node.text];
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node)) {
    return textsOf(node.expression, reading);
  }
  if (ts.isConditionalExpression(node)) {
    return [...textsOf(node.whenTrue, reading), ...textsOf(node.whenFalse, reading)];
  }
  if (ts.isTemplateExpression(node)) {
    return node.templateSpans.reduce(
      (texts, { expression, literal }) =>
        texts.flatMap(text => textsOf(expression, reading).map(part => text + part + literal.text)),
      [node.head.text],
    );
  }
  const value = ts.isIdentifier(node) ? definitionsOf(node, reading.checker) : undefined;
  if (value !== undefined) return value.flatMap(one => textsOf(one, reading));
  const joined = joinedTexts(node, reading);
  if (joined !== undefined) return joined;
  const known = reading.standIns(node.getText().replace(/\s+/g, ' '), reading.place);
  if (known !== undefined) return [known];
  const called = calledTexts(node, reading);
  if (called !== undefined) return called;
  throw new Error(`${reading.place}: no SQL is known for \`${node.getText()}\`.`);
}

function kindsOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  const parts = type.isUnion() ? type.types : [type];
  const kinds = parts.map(part => checker.typeToString(checker.getBaseTypeOfLiteralType(part)));
  return [...new Set(kinds)].map(kind => (kind.startsWith('Buffer') ? 'Buffer' : kind));
}

/** The texts of `name(…)` for a constant arrow function with an expression body, also through `perDialect`. */
function calledTexts(node: ts.Expression, reading: Reading): string[] | undefined {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined;
  const [constant] = definitionsOf(node.expression, reading.checker) ?? [];
  const isKept =
    constant !== undefined && ts.isCallExpression(constant) && constant.expression.getText() === 'perDialect';
  const called = isKept ? constant.arguments[0] : constant;
  if (called === undefined || !ts.isArrowFunction(called) || !ts.isTemplateExpression(called.body))
    return undefined;
  return textsOf(called.body, reading);
}

/** The texts of `LIST.join('…')` for a constant list. */
function joinedTexts(node: ts.Expression, reading: Reading): string[] | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression: list } = node.expression;
  const [separator] = node.arguments;
  if (name.text !== 'join' || separator === undefined) return undefined;
  const parts = elementTexts(list, reading);
  return parts && textsOf(separator, reading).map(text => parts.join(text));
}

/** The elements of a constant list of texts; undefined for any other list. */
function elementTexts(list: ts.Expression, reading: Reading): string[] | undefined {
  if (!ts.isIdentifier(list)) return undefined;
  const [value] = definitionsOf(list, reading.checker) ?? [];
  const array = value && arrayIn(value);
  if (array === undefined || !ts.isArrayLiteralExpression(array)) return undefined;
  return array.elements.map(element => textsOf(element, reading)[0] ?? '');
}

function arrayIn(node: ts.Expression): ts.Expression {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? arrayIn(node.expression) : node;
}

/** The value of a constant, or the arguments of a function's calls in the same file for its parameter. */
function definitionsOf(name: ts.Identifier, checker: ts.TypeChecker): ts.Expression[] | undefined {
  const symbol = checker.getSymbolAtLocation(name);
  const imported =
    symbol && (symbol.flags & ts.SymbolFlags.Alias) !== 0 ? checker.getAliasedSymbol(symbol) : symbol;
  const declaration = imported?.valueDeclaration;
  if (declaration === undefined) return undefined;
  if (ts.isVariableDeclaration(declaration)) {
    return declaration.initializer === undefined ? undefined : [declaration.initializer];
  }
  return ts.isParameter(declaration) ? argumentsFor(declaration) : undefined;
}

function argumentsFor(parameter: ts.ParameterDeclaration): ts.Expression[] | undefined {
  const { parent } = parameter;
  const place = parent.parameters.indexOf(parameter);
  const named = ts.isFunctionDeclaration(parent) ? parent.name : undefined;
  const constant = ts.isVariableDeclaration(parent.parent) ? parent.parent.name : undefined;
  const name = (named ?? constant)?.getText();
  const found: ts.Expression[] = parameter.initializer === undefined ? [] : [parameter.initializer];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === name) {
      const argument = node.arguments[place];
      if (argument !== undefined) found.push(argument);
    }
    ts.forEachChild(node, visit);
  };
  visit(parameter.getSourceFile());
  return found.length === 0 ? undefined : found;
}
