import ts from 'typescript';
import type { Dialect } from '#db/dialect.ts';
import { formsOf, selectionIn } from './selection-sources.ts';
import { pathOf, sourceProgram } from './source-program.ts';
import { definitionsOf, elementTexts, type Reading, type StandIns, textsOf } from './source-texts.ts';

/** A column of a statement's row type. */
export interface RowColumn {
  readonly name: string;
  /** Types of its values except null: `string`, `number`, `boolean` or `Buffer`. */
  readonly kinds: readonly string[];
}

/** A call that sends a statement: `rowsOf`, `execute`, `insertRows`, a handle's `raw`, or a method of a selection. */
export interface StatementSource {
  /** File and line, such as `src/payments/retention.ts:101`. */
  readonly place: string;
  /** The SQL texts that the call can send. */
  readonly texts: readonly string[];
  /** Empty for a call that reads no columns. */
  readonly columns: readonly RowColumn[];
}

/** Methods of a selection. */
const READING = ['rows', 'query', 'changed'];
/** Files that send the statements of their callers. */
const SENDERS = ['src/db/query.ts', 'src/db/rows.ts', 'src/db/select/select.ts'];
/** Statements that databases can prepare. The others run in every migration, or are parts of statements for knex. */
const STATEMENT = /^\s*(?:select|insert|update|delete|with)\b/i;

/**
 * All statements in the source files, except in `leftOut`. The compiler checks those of knex's builder.
 * @throws Error for an expression within SQL that is neither constant nor known
 */
export function statementSources(
  dialect: Dialect,
  standIns: StandIns,
  leftOut: readonly string[],
): StatementSource[] {
  const { checker, files } = sourceProgram();
  const found: StatementSource[] = [];

  const visit = (file: ts.SourceFile) => (node: ts.Node) => {
    ts.forEachChild(node, visit(file));
    if (!ts.isCallExpression(node)) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const place = `${pathOf(file)}:${line + 1}`;
    const reading = { checker, standIns, place };
    const sent = textsSelected(node, dialect, reading) ?? textsSent(node, reading) ?? [];
    const texts = sent.filter(text => STATEMENT.test(text));
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
    }));
  };

  for (const { path, source } of files) {
    if (![...SENDERS, ...leftOut].some(one => path.startsWith(one))) ts.forEachChild(source, visit(source));
  }
  return found;
}

/** Every text of `SELECTION.rows(handle, rest)`, `.query(…)` or `.changed(…)`; undefined for any other call. */
function textsSelected(call: ts.CallExpression, dialect: Dialect, reading: Reading): string[] | undefined {
  const { expression, arguments: values } = call;
  if (!ts.isPropertyAccessExpression(expression) || !READING.includes(expression.name.text)) return undefined;
  const selection = selectionIn(expression.expression, reading.checker);
  if (selection === undefined) return undefined;
  const [, rest] = values;
  const conditions = rest === undefined ? [''] : textsOf(rest, reading);
  const isChange = expression.name.text === 'changed';
  return formsOf(selection, reading).flatMap(({ textOn, listOn }) =>
    conditions.map(text =>
      isChange ? `${text} returning ${listOn(dialect)}` : `${textOn(dialect)} ${text}`,
    ),
  );
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

function kindsOf(type: ts.Type, checker: ts.TypeChecker): string[] {
  const parts = type.isUnion() ? type.types : [type];
  const kinds = parts.map(part => checker.typeToString(checker.getBaseTypeOfLiteralType(part)));
  return [...new Set(kinds)].map(kind => (kind.startsWith('Buffer') ? 'Buffer' : kind));
}
