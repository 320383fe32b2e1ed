import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** A column that the row type of a statement names. */
export interface RowColumn {
  readonly name: string;
  /** What its values are, but for null: `string`, `number`, `boolean` or `Buffer`. */
  readonly kinds: readonly string[];
  /** The file that declares the column, from the project's folder. */
  readonly declaredIn: string;
}

/** A call of `rowsOf` or `execute` in the sources. */
export interface StatementSource {
  /** Such as `src/payments/retention.ts:101`. */
  readonly place: string;
  /** The texts that the call can send. */
  readonly texts: readonly string[];
  /** Empty for a call that reads no columns. */
  readonly columns: readonly RowColumn[];
}

/** SQL for an expression that only the running program knows the text of; undefined for an unknown expression. */
export type StandIns = (expression: string, place: string) => string | undefined;

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** All statements of a folder's sources. @throws Error for an expression within SQL that is neither constant nor known. */
export function statementSources(folder: string, standIns: StandIns): StatementSource[] {
  const { config } = ts.readConfigFile(`${ROOT}/tsconfig.json`, ts.sys.readFile);
  const { fileNames, options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const program = ts.createProgram(
    fileNames.filter(file => file.startsWith(`${ROOT}/${folder}/`)),
    options,
  );
  const checker = program.getTypeChecker();
  const relative = (file: string) => file.slice(ROOT.length + 1);
  const found: StatementSource[] = [];

  const visit = (file: ts.SourceFile) => (node: ts.Node) => {
    ts.forEachChild(node, visit(file));
    if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return;
    const sql = node.arguments[1];
    if (!['rowsOf', 'execute'].includes(node.expression.text) || sql === undefined) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const place = `${relative(file.fileName)}:${line + 1}`;
    found.push({ place, texts: textsOf(sql, { checker, standIns, place }), columns: columnsOf(node) });
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
      declaredIn: relative(column.declarations?.[0]?.getSourceFile().fileName ?? ''),
    }));
  };

  for (const file of program.getSourceFiles()) {
    if (file.fileName.startsWith(`${ROOT}/${folder}/`)) ts.forEachChild(file, visit(file));
  }
  return found;
}

interface Reading {
  readonly checker: ts.TypeChecker;
  readonly standIns: StandIns;
  readonly place: string;
}

/** Every text that an expression can have. */
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
  if (known === undefined) throw new Error(`${reading.place}: no SQL is known for \`${node.getText()}\`.`);
  return [known];
}

function kindsOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  const parts = type.isUnion() ? type.types : [type];
  const kinds = parts.map(part => checker.typeToString(checker.getBaseTypeOfLiteralType(part)));
  return [...new Set(kinds)].map(kind => (kind.startsWith('Buffer') ? 'Buffer' : kind));
}

/** The texts of `LIST.join('…')`, where the list is constant. */
function joinedTexts(node: ts.Expression, reading: Reading): string[] | undefined {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression: list } = node.expression;
  const [separator] = node.arguments;
  if (name.text !== 'join' || separator === undefined || !ts.isIdentifier(list)) return undefined;
  const [value] = definitionsOf(list, reading.checker) ?? [];
  const array = value && arrayIn(value);
  if (array === undefined || !ts.isArrayLiteralExpression(array)) return undefined;
  const parts = array.elements.map(element => textsOf(element, reading)[0] ?? '');
  return textsOf(separator, reading).map(text => parts.join(text));
}

function arrayIn(node: ts.Expression): ts.Expression {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? arrayIn(node.expression) : node;
}

/** What a constant is, or what the calls within its file give for a function's parameter. */
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
