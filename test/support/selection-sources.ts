import ts from 'typescript';
import type { Dialect } from '#db/dialect.ts';
import { type DescribedTables, listSql, selectSql } from '#db/select/select-sql.ts';
import type { ComputedType } from '#db/select/selected-row.ts';
import { pathOf, sourceProgram } from './source-program.ts';
import { definitionsOf, type Reading, textsOf } from './source-texts.ts';

/** A `select({ … })` of the sources, in one of its forms. */
export interface SelectionSource {
  /** File and line, such as `src/indexer/schema/head.ts:42`. */
  readonly place: string;
  /** Undefined when its expressions are about a subquery or a `with`, which follow. */
  readonly from: string | undefined;
  /** Types of the computed columns, nullable or not, with their expressions. */
  readonly computed: Readonly<Record<string, readonly [type: ComputedType, sql: string]>>;
  /** The `select` without conditions. */
  textOn(dialect: Dialect, described?: DescribedTables): string;
  /** The select list alone. */
  listOn(dialect: Dialect): string;
}

/**
 * The selections of a folder that name their table and no `with`.
 * @throws Error for a part that is not constant
 */
export function selectionSources(folder: string): SelectionSource[] {
  const { checker, files } = sourceProgram();
  const found: SelectionSource[] = [];

  const visit = (file: ts.SourceFile) => (node: ts.Node) => {
    ts.forEachChild(node, visit(file));
    if (!ts.isCallExpression(node) || selectionIn(node, checker) !== node) return;
    const parts = partsOf(node);
    if (!parts.has('from') || parts.has('with')) return;
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    const place = `${pathOf(file)}:${line + 1}`;
    found.push(...formsOf(node, { checker, standIns: () => undefined, place }));
  };

  for (const { path, source } of files) {
    if (path.startsWith(folder)) ts.forEachChild(source, visit(source));
  }
  return found;
}

/** The `select({ … })` or `selectWith()({ … })` that an expression is, or that a constant names. */
export function selectionIn(node: ts.Expression, checker: ts.TypeChecker): ts.CallExpression | undefined {
  const [named] = ts.isIdentifier(node) ? (definitionsOf(node, checker) ?? []) : [node];
  if (named === undefined || !ts.isCallExpression(named)) return undefined;
  const isSelect = /^select(?:With<.*>\(\))?$/.test(named.expression.getText());
  return isSelect && partsOf(named).size > 0 ? named : undefined;
}

/** The forms that a selection can have, by what its names and expressions can be. */
export function formsOf(selection: ts.CallExpression, reading: Reading): SelectionSource[] {
  const parts = partsOf(selection);
  const listOf = (expression: ts.Expression | undefined): string[][] => {
    const list = expression && constantIn(expression, reading.checker);
    if (list === undefined || !ts.isArrayLiteralExpression(list)) return [];
    return list.elements.map(element => textsOf(element, reading));
  };
  const lists = (name: string) => variants(listOf(parts.get(name)));
  const textIn = (name: string) => {
    const text = parts.get(name);
    return text === undefined ? [undefined] : textsOf(text, reading);
  };
  const computed = Object.fromEntries(
    membersOf(parts.get('computed')).map(([name, pair]) => {
      const [type = '', sql = ''] = listOf(pair).map(([text]) => text);
      return [name, [typeIn(type), sql] as const];
    }),
  );
  const indexedBy = Object.fromEntries(
    membersOf(parts.get('indexedBy')).map(([alias, index]) => [alias, textsOf(index, reading)[0] ?? '']),
  );
  const [[join = []], [leftJoin = []], [hex = []]] = [lists('join'), lists('leftJoin'), lists('hex')];
  const [before = ''] = textIn('with');
  const isDistinct = parts.has('isDistinct');
  return textIn('from').flatMap(from =>
    lists('columns').map(columns => {
      const tables = { ...(from === undefined ? {} : { from }), join, leftJoin, indexedBy };
      const all = { with: before, ...tables, isDistinct, hex, columns, computed };
      return {
        place: reading.place,
        from,
        computed,
        listOn: (dialect: Dialect) => listSql(all, dialect),
        textOn: (dialect: Dialect, described?: DescribedTables) => selectSql(all, dialect, described),
      };
    }),
  );
}

function partsOf({ arguments: [given] }: ts.CallExpression): ReadonlyMap<string, ts.Expression> {
  return new Map(membersOf(given));
}

function membersOf(node: ts.Expression | undefined): (readonly [name: string, value: ts.Expression])[] {
  if (node === undefined || !ts.isObjectLiteralExpression(node)) return [];
  return node.properties
    .filter(property => ts.isPropertyAssignment(property))
    .map(({ name, initializer }) => [name.getText(), initializer] as const);
}

/** A literal, or the one that a constant names. */
function constantIn(node: ts.Expression, checker: ts.TypeChecker): ts.Expression {
  const [named = node] = ts.isIdentifier(node) ? (definitionsOf(node, checker) ?? []) : [];
  return literalIn(named);
}

/** A literal without `as const` and `satisfies`. */
function literalIn(node: ts.Expression): ts.Expression {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? literalIn(node.expression) : node;
}

/** Every list that takes one text of each element. */
function variants(elements: readonly (readonly string[])[]): string[][] {
  return elements.reduce<string[][]>(
    (lists, texts) => lists.flatMap(list => texts.map(text => [...list, text])),
    [[]],
  );
}

const TYPES = ['text', 'json', 'uint256', 'numeric', 'bytes', 'count', 'time', 'boolean', 'hex'] as const;

function typeIn(text: string): ComputedType {
  const type = TYPES.find(one => text === one || text === `${one}?`);
  if (type === undefined) throw new Error(`No column is of type ${text}.`);
  return type;
}
