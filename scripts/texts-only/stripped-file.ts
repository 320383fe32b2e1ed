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
  '.yaml': (text, path) => data(parse(text), path),
  '.yml': (text, path) => data(parse(text), path),
  '.json': (text, path) => data(JSON.parse(text), path),
  '.css': text => ({ code: squeezed(text.replace(/\/\*[\s\S]*?\*\//g, '')), texts: [] }),
  '.md': text => ({ code: '', texts: [text] }),
};

/** Separates the texts of a file from its code, by the ending of its path. */
export function stripped(text: string, path: string): Stripped {
  return strippers[extname(path)]?.(text, path) ?? otherFile(text);
}

/** Texts of one version that the other one lacks, or has at another place while its code is the same. */
export function lacking(one: Stripped | undefined, other: Stripped | undefined): string[] {
  const texts = other?.texts ?? [];
  const known = new Set(texts);
  const isSameCode = one?.code === other?.code;
  return (one?.texts ?? []).filter((text, at) => (isSameCode ? text !== texts[at] : !known.has(text)));
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

function data(value: unknown, path: string): Stripped {
  const isContract = /^(spec|generated)\//.test(path);
  return isContract ? contract(value) : { code: JSON.stringify(value), texts: [] };
}

/** A contract without the fields that only people read, and without other strings that contain a space. */
function contract(value: unknown): Stripped {
  const texts: string[] = [];
  const code = JSON.stringify(value, (key, field: unknown) => {
    if (typeof field !== 'string' || !(TEXT_FIELDS.includes(key) || /\s/.test(field))) return field;
    texts.push(field);
    return '';
  });
  return { code, texts };
}

/** Any other file without lines that begin with `#`, except a first line with `#!`. */
function otherFile(text: string): Stripped {
  const isCode = (line: string, at: number) => !/^\s*#/.test(line) || (at === 0 && line.startsWith('#!'));
  return { code: text.split('\n').filter(isCode).join('\n'), texts: [] };
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
