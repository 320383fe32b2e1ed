import { extname } from 'node:path';
import ts from 'typescript';
import { parse } from 'yaml';

/** Fields of a contract or of the configuration schema that only people read. */
const TEXT_FIELDS = ['description', 'summary', 'title', 'x-form', 'x-decision'];

/** A version of a file without its texts, and the texts. */
export interface Stripped {
  readonly code: string;
  readonly texts: readonly string[];
}

const strippers: Readonly<Record<string, (text: string, path: string) => Stripped>> = {
  '.ts': program,
  '.js': program,
  '.cjs': program,
  '.yaml': (text, path) => (path.startsWith('spec/') ? document(parse(text)) : hashComments(text)),
  '.yml': hashComments,
  '.json': text => document(JSON.parse(text)),
  '.css': text => ({ code: squeezed(text.replace(/\/\*[\s\S]*?\*\//g, '')), texts: [] }),
  '.md': text => ({ code: '', texts: [text] }),
};

/** Separates the texts of a file from its code, by the ending of its path. */
export function stripped(text: string, path: string): Stripped {
  return strippers[extname(path)]?.(text, path) ?? hashComments(text);
}

/** Texts of one version that the other one does not have. */
export function lacking(one: Stripped | undefined, other: Stripped | undefined): string[] {
  const known = new Set(other?.texts);
  return (one?.texts ?? []).filter(text => !known.has(text));
}

/** Tokens of a program, without trailing commas, which depend on line breaks. */
function program(text: string, path: string): Stripped {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const tokens: string[] = [];
  const texts: string[] = [];
  visit(source);
  return { code: tokens.join('\n').replace(/\n,(?=\n[)\]}])/g, ''), texts };

  function visit(node: ts.Node): void {
    if (ts.isJSDoc(node)) return;
    const children = node.getChildren(source);
    for (const child of children) visit(child);
    if (children.length > 0 || node.kind === ts.SyntaxKind.EndOfFileToken) return;
    const token = node.getText(source);
    if (!isText(node, token)) {
      if (token !== '') tokens.push(token);
      return;
    }
    tokens.push(ts.SyntaxKind[node.kind]);
    texts.push(token);
  }
}

function isText(node: ts.Node, token: string): boolean {
  const isString = ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
  const isPart = ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
  return (isString || isPart) && /\s/.test(token);
}

/** A YAML or JSON document without the fields that only people read. */
function document(value: unknown): Stripped {
  const texts: string[] = [];
  const code = JSON.stringify(value, (key, field: unknown) => {
    if (typeof field !== 'string' || !(TEXT_FIELDS.includes(key) || /\s/.test(field))) return field;
    texts.push(field);
    return '';
  });
  return { code, texts };
}

function hashComments(text: string): Stripped {
  return { code: squeezed(text.replace(/(^|\s)#.*$/gm, '')), texts: [] };
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
