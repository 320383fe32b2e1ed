import ts from 'typescript';

/** Puts every statement of generated code on a line of its own, so that a change shows what it changes. */
export function statementLines(code: string): string {
  const file = ts.createSourceFile('generated.cjs', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.JS);
  return file.statements.map(statement => `${statement.getText(file)}\n`).join('');
}
