import ts from 'typescript';

/** One fault that could be in a source file. */
export interface Mutation {
  readonly lineNumber: number;
  /** Range of the original in the file. */
  readonly start: number;
  readonly end: number;
  readonly original: string;
  /** Empty for a statement that is left out. */
  readonly replacement: string;
  readonly isStatement: boolean;
  /** Runs once, when its module is loaded. */
  readonly isAtLoad: boolean;
}

const OPERATORS: Readonly<Record<string, string>> = {
  '===': '!==',
  '!==': '===',
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '+=': '-=',
  '-=': '+=',
};
const LOGICAL: Readonly<Record<string, string>> = { '&&': '||', '||': '&&' };
const METHODS = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['min', 'max'],
  ['max', 'min'],
]);
/** Methods whose result can be replaced by what they are called on. */
const DROPPED = ['filter', 'sort', 'toSorted', 'reverse', 'toReversed', 'slice'];
/** Larger numbers are sizes and delays, of which one more is no fault. */
const MAX_COUNT = 100;
const LOG_CALL = /(?:^|\.)log\??\.(?:trace|debug|info|warn|error|fatal)$/;

/** All mutations of a file, in the order of the text. Types, imports, log calls and thrown errors have none. */
export function mutationsOf(path: string, text: string): Mutation[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: Mutation[] = [];

  const add = (node: ts.Node, replacement: string) => {
    const [start, end] = [node.getStart(source), node.end];
    const isStatement = ts.isStatement(node);
    const original = text.slice(start, end);
    const lineNumber = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ lineNumber, start, end, original, replacement, isStatement, isAtLoad: isAtLoad(node) });
  };
  const visit = (node: ts.Node) => {
    if (isLeftOut(node)) return;
    for (const replacement of replacementsOf(node)) add(node, replacement);
    ts.forEachChild(node, visit);
  };
  ts.forEachChild(source, visit);
  return found.sort((a, b) => a.start - b.start || b.end - a.end);
}

function isLeftOut(node: ts.Node): boolean {
  return (
    ts.isTypeNode(node) ||
    ts.isImportDeclaration(node) ||
    ts.isExportDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isEnumDeclaration(node) ||
    ts.isModuleDeclaration(node) ||
    ts.isThrowStatement(node) ||
    isLogging(node)
  );
}

/** True for a log call, and for a condition or block with nothing else. */
function isLogging(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) return LOG_CALL.test(node.expression.getText());
  if (ts.isExpressionStatement(node)) return isLogging(node.expression);
  if (ts.isBlock(node)) return node.statements.length > 0 && node.statements.every(isLogging);
  if (!ts.isIfStatement(node)) return false;
  const { thenStatement, elseStatement } = node;
  return isLogging(thenStatement) && (elseStatement === undefined || isLogging(elseStatement));
}

function isAtLoad(node: ts.Node): boolean {
  return (
    ts.findAncestor(node, around => ts.isFunctionLike(around) || ts.isPropertyDeclaration(around)) ===
    undefined
  );
}

function replacementsOf(node: ts.Node): string[] {
  return [...(isCondition(node) ? conditions(node) : []), ...ofKind(node)];
}

/** Replacements for a condition. A loop that never ends would only cost time. */
function conditions(node: ts.Node): string[] {
  if (node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword) return [];
  return ts.isWhileStatement(node.parent) || ts.isDoStatement(node.parent) ? ['false'] : ['true', 'false'];
}

function isCondition(node: ts.Node): boolean {
  const { parent } = node;
  if (ts.isConditionalExpression(parent)) return parent.condition === node;
  const hasCondition = ts.isIfStatement(parent) || ts.isWhileStatement(parent) || ts.isDoStatement(parent);
  return hasCondition && parent.expression === node;
}

function ofKind(node: ts.Node): string[] {
  if (ts.isBinaryExpression(node)) return binary(node);
  if (ts.isPrefixUnaryExpression(node)) {
    return node.operator === ts.SyntaxKind.ExclamationToken ? [node.operand.getText()] : [];
  }
  if (node.kind === ts.SyntaxKind.TrueKeyword) return ['false'];
  if (node.kind === ts.SyntaxKind.FalseKeyword) return ['true'];
  if (ts.isNumericLiteral(node) || ts.isBigIntLiteral(node)) return oneMore(node);
  if (ts.isCallExpression(node)) return call(node);
  return ts.isExpressionStatement(node) && isCall(node.expression) ? [''] : [];
}

function binary(node: ts.BinaryExpression): string[] {
  const { left, operatorToken, right } = node;
  const operator = operatorToken.getText();
  if (operator === '??') return [left.getText()];
  const logical = LOGICAL[operator];
  if (logical !== undefined) return [`(${left.getText()}) ${logical} (${right.getText()})`];
  const other = OPERATORS[operator];
  if (other === undefined || isText(left) || isText(right)) return [];
  return [`${left.getText()} ${other} ${right.getText()}`];
}

function isText(node: ts.Node): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

function oneMore(node: ts.NumericLiteral | ts.BigIntLiteral): string[] {
  if (ts.isPropertyAssignment(node.parent) && node.parent.name === node) return [];
  const value = Number(node.getText().replaceAll(/_|n$/g, ''));
  if (!Number.isInteger(value) || value > MAX_COUNT) return [];
  return [`${value + 1}${ts.isBigIntLiteral(node) ? 'n' : ''}`];
}

function call(node: ts.CallExpression): string[] {
  const { expression } = node;
  // Parentheses inside an optional chain would end its short circuit.
  if (!ts.isPropertyAccessExpression(expression) || ts.isOptionalChain(node)) return [];
  const [object, name] = [expression.expression.getText(), expression.name.text];
  if (DROPPED.includes(name)) return [object];
  const other = METHODS.get(name);
  return other === undefined
    ? []
    : [`${object}.${other}${node.getText().slice(expression.getText().length)}`];
}

function isCall(node: ts.Expression): boolean {
  if (ts.isAwaitExpression(node) || ts.isVoidExpression(node)) return isCall(node.expression);
  return ts.isCallExpression(node) && node.expression.kind !== ts.SyntaxKind.SuperKeyword;
}
