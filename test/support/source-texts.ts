import ts from 'typescript';

/** Substitute SQL for an expression whose text is known only at run time; undefined for an unknown expression. */
export type StandIns = (expression: string, place: string) => string | undefined;

/** What the meaning of an expression depends on. */
export interface Reading {
  readonly checker: ts.TypeChecker;
  readonly standIns: StandIns;
  readonly place: string;
}

/** Every text that an expression can evaluate to. */
export function textsOf(node: ts.Expression, reading: Reading): string[] {
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

/** The texts of `name(…)` for a constant arrow function with an expression body. */
function calledTexts(node: ts.Expression, reading: Reading): string[] | undefined {
  if (!ts.isCallExpression(node) || !ts.isIdentifier(node.expression)) return undefined;
  const [called] = definitionsOf(node.expression, reading.checker) ?? [];
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
export function elementTexts(list: ts.Expression, reading: Reading): string[] | undefined {
  const [value] = ts.isIdentifier(list) ? (definitionsOf(list, reading.checker) ?? []) : [list];
  const array = value && arrayIn(value);
  if (array === undefined || !ts.isArrayLiteralExpression(array)) return undefined;
  if (array.elements.some(ts.isSpreadElement)) return undefined;
  return array.elements.map(element => textsOf(element, reading)[0] ?? '');
}

function arrayIn(node: ts.Expression): ts.Expression {
  return ts.isAsExpression(node) || ts.isSatisfiesExpression(node) ? arrayIn(node.expression) : node;
}

/**
 * The value of a constant, the arguments of a function's calls in the same file for its parameter, or the elements of a
 * list for the parameter of `LIST.map(…)`.
 */
export function definitionsOf(name: ts.Identifier, checker: ts.TypeChecker): ts.Expression[] | undefined {
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
  const listed = ts.isCallExpression(parent.parent) ? mappedElements(parent.parent) : undefined;
  if (listed !== undefined) return place === 0 ? listed : undefined;
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

/** The elements of the list that a call of `map` goes through; undefined for any other call. */
function mappedElements({ expression }: ts.CallExpression): ts.Expression[] | undefined {
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'map') return undefined;
  const list = arrayIn(expression.expression);
  return ts.isArrayLiteralExpression(list) ? [...list.elements] : undefined;
}
