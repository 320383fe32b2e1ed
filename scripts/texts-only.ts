/**
 * Verifies that a change touches only comments and texts:
 *   npm run -s texts-only -- BASE [HEAD] [--show]
 * Compares two commits without their comments, descriptions and strings that contain a space. HEAD is the current
 * commit when absent. `--show` prints the changed strings for review, because a stripped string may be SQL. Exits with
 * 1 when code differs.
 */
import { execFileSync } from 'node:child_process';
import { extname } from 'node:path';
import { parseArgs } from 'node:util';
import ts from 'typescript';
import { parse } from 'yaml';

const USAGE = 'usage: npm run texts-only -- BASE [HEAD] [--show]';
const MOST_BYTES = 256 * 2 ** 20;
/** Fields of a contract or of the configuration schema that only people read. */
const TEXT_FIELDS = ['description', 'summary', 'title', 'x-form', 'x-decision'];

/** A version of a file without its texts, and the texts. */
interface Stripped {
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

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: MOST_BYTES });
}

/** Paths with one kind of change, as in `git diff --diff-filter`. */
function changed(filter: string): string[] {
  const list = git('diff', '--no-renames', '--name-only', `--diff-filter=${filter}`, base, head);
  return list.split('\n').filter(path => path !== '');
}

const { values, positionals } = parseArgs({
  options: { show: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [base = '', head = 'HEAD'] = positionals;
if (base === '' || positionals.length > 2) {
  console.error(USAGE);
  process.exit(2);
}

const differing = changed('ADT').filter(path => extname(path) !== '.md');
let texts = 0;
for (const path of changed('M')) {
  const [before, after] = [base, head].map(commit => git('show', `${commit}:${path}`));
  const strip = strippers[extname(path)];
  if (before === undefined || after === undefined) continue;
  const [old, now] = [before, after].map(text => strip?.(text, path) ?? hashComments(text));
  if (old?.code !== now?.code) differing.push(path);
  const [lost, gained] = [lacking(old, now), lacking(now, old)];
  texts += gained.length;
  if (!values.show || extname(path) === '.md' || lost.length + gained.length === 0) continue;
  console.log([path, ...lost.map(text => `- ${text}`), ...gained.map(text => `+ ${text}`)].join('\n'));
}

/** Texts of one version that the other one does not have. */
function lacking(one: Stripped | undefined, other: Stripped | undefined): string[] {
  const known = new Set(other?.texts);
  return (one?.texts ?? []).filter(text => !known.has(text));
}

for (const path of differing) console.error(`code has changed, too: ${path}`);
console.log(
  `${changed('M').length} files with changes, ${texts} new texts, ${differing.length} files whose code differs`,
);
process.exitCode = differing.length === 0 ? 0 : 1;
