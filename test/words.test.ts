import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { expect, test } from 'vitest';

/*
 * One word has one meaning (ARCHITECTURE, "Words"): names that had several meanings are refused, and two things that
 * are exported do not share a name.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Words that no declared name contains, in any letter case. */
const BANNED_IN_NAMES = ['place', 'places', 'tells', 'told'];
/** Names of types that say what was done and not what the type holds. */
const BANNED_TYPES = [
  'Answered',
  'Asked',
  'Composed',
  'Found',
  'Got',
  'Held',
  'Made',
  'Sent',
  'Standing',
  'Wanted',
];
/** Files without these texts have no banned name, so that they need not be parsed. */
const MAY_BE_BANNED =
  /(?<!re)place(?!holder)|Place(?!holder)|PLACE|[tT]ells|[tT]old|TELLS|TOLD|\b(?:Answered|Asked|Composed|Found|Got|Held|Made|Sent|Standing|Wanted)\b/;
const BANNED_IN_COMMENTS = /\b(?:anew|beside|lest|whoever)\b/i;
/** Openings of docstrings that are questions. A docstring names the thing that it describes. */
const QUESTION = /\/\*\*[\s*]*((?:What|Who\w*|Whether|Where|When|Which|How|Until when)\b.*)/g;
const BANNED_IN_TITLES = /\b(?:anew|beside|lest|whoever|nobody|tells|told)\b/i;
const TITLE = /\btest(?:\.\w+)*(?:\(.*?\))?\(\s*(['"`])(.*?)\1/g;
const EXPORT =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) ([\w$]+)/gm;
/** Names of columns, which the databases of users have. */
const COLUMNS = /^src\/payments\/(?:tables|store\/migrations)\//;

/** Exports of several files that are the same thing for another database, with the reason. */
const SHARED_EXPORTS: Readonly<Record<string, string>> = {
  select: 'describes reads of the index or of payments, whose tables differ',
  selectWith: 'as select',
};

interface Source {
  readonly path: string;
  readonly text: string;
}

interface Export {
  readonly name: string;
  readonly path: string;
}

function sources(pattern = 'src/**/*.ts'): Source[] {
  return globSync(pattern, { cwd: ROOT })
    .filter(path => !path.endsWith('.d.ts') && path !== 'test/words.test.ts')
    .sort()
    .map(path => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }));
}

function wordsOf(name: string): string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []).map(word => word.toLowerCase());
}

/** The name that a node declares. Imports and properties of objects repeat names that are declared elsewhere. */
function declaredName(node: ts.Node): string | undefined {
  const isDeclaration =
    ts.isVariableDeclaration(node) ||
    ts.isBindingElement(node) ||
    ts.isParameter(node) ||
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isPropertySignature(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isMethodSignature(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isNamedTupleMember(node);
  return isDeclaration && node.name !== undefined && ts.isIdentifier(node.name) ? node.name.text : undefined;
}

function isType(node: ts.Node): boolean {
  return (
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isTypeParameterDeclaration(node) ||
    ts.isClassDeclaration(node)
  );
}

function bannedNames(source: Source): string[] {
  if (COLUMNS.test(source.path) || !MAY_BE_BANNED.test(source.text)) return [];
  const found: string[] = [];
  const file = ts.createSourceFile(source.path, source.text, ts.ScriptTarget.Latest);
  const visit = (node: ts.Node): void => {
    const name = declaredName(node);
    if (name !== undefined) {
      const isBanned =
        wordsOf(name).some(word => BANNED_IN_NAMES.includes(word)) ||
        (isType(node) && BANNED_TYPES.includes(name));
      const line = file.getLineAndCharacterOfPosition(node.getStart(file)).line + 1;
      if (isBanned) found.push(`${source.path}:${line} declares ${name}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Lines with a banned word behind the start of a comment. */
function bannedComments({ path, text }: Source): string[] {
  return text.split('\n').flatMap((line, index) => {
    const [, comment = ''] = /(?:^|\s)(?:\/\*\*?|\*|\/\/)\s(.*)$/.exec(line) ?? [];
    const [word] = BANNED_IN_COMMENTS.exec(comment) ?? [];
    return word === undefined ? [] : [`${path}:${index + 1} says ${word}`];
  });
}

/** Docstrings that open with a question. */
function questions({ path, text }: Source): string[] {
  return [...text.matchAll(QUESTION)].map(([, opening = '']) => `${path}: ${opening}`);
}

/** Titles of tests with a banned word. */
function bannedTitles({ path, text }: Source): string[] {
  return [...text.matchAll(TITLE)].flatMap(([, , title = '']) => {
    const [word] = BANNED_IN_TITLES.exec(title) ?? [];
    return word === undefined ? [] : [`${path} says ${word}: ${title}`];
  });
}

/** Exports in formatted code, where each begins a line. */
function exportsOf({ path, text }: Source): Export[] {
  const found = text.matchAll(EXPORT);
  return [...new Set(Array.from(found, ([, name = '']) => name))].map(name => ({ name, path }));
}

/** Programs in which the exports of a file must be unique: the server, the explorer's pages and those of payments. */
function programsOf(path: string): readonly string[] {
  if (!path.includes('/browser/')) return ['server'];
  if (path.startsWith('src/data/')) return ['explorer'];
  return path.startsWith('src/payments/') ? ['payments'] : ['explorer', 'payments'];
}

/** A kind of back end. Each implements the same port, so its modules may be named like those of another kind. */
function backEndOf(path: string): string | undefined {
  return /^src\/data\/backends\/(own-index|blockscout|thirdweb)\//.exec(path)?.[1];
}

function isAmbiguous(one: Export, other: Export): boolean {
  const [kind, otherKind] = [backEndOf(one.path), backEndOf(other.path)];
  if (kind !== undefined && otherKind !== undefined && kind !== otherKind) return false;
  return programsOf(one.path).some(program => programsOf(other.path).includes(program));
}

function ambiguousExports(all: readonly Export[]): string[] {
  const byName = Map.groupBy(
    all.filter(({ name }) => !Object.hasOwn(SHARED_EXPORTS, name)),
    ({ name }) => name,
  );
  return [...byName].flatMap(([name, same]) => {
    const shared = same.filter(one => same.some(other => other !== one && isAmbiguous(one, other)));
    return shared.length === 0 ? [] : [`${name}: ${shared.map(({ path }) => path).join(', ')}`];
  });
}

test('no name has a word that had several meanings', () => {
  expect(sources().flatMap(bannedNames)).toEqual([]);
});

test('no comment has a word that readers must look up', () => {
  expect(sources('{src,test,scripts}/**/*.ts').flatMap(bannedComments)).toEqual([]);
});

test('no docstring opens with a question', () => {
  const example = { path: 'a.ts', text: '/**\n * What the page shows.\n */\n/** The page. */' };

  expect(sources().flatMap(questions)).toEqual([]);
  expect(questions(example)).toEqual(['a.ts: What the page shows.']);
});

test('no title of a test has one either', () => {
  const example = { path: 'a.test.ts', text: "  test('a page is told of it', () => {});" };

  expect(sources('test/**/*.ts').flatMap(bannedTitles)).toEqual([]);
  expect(bannedTitles(example)).toEqual(['a.test.ts says told: a page is told of it']);
});

test('two things that are exported have two names', () => {
  expect(ambiguousExports(sources().flatMap(exportsOf))).toEqual([]);
});

test('each exception is of several files', () => {
  const names = sources().flatMap(exportsOf);

  for (const name of Object.keys(SHARED_EXPORTS)) {
    expect(names.filter(one => one.name === name).length, name).toBeGreaterThan(1);
  }
});

test('banned names and comments are found', () => {
  const text = [
    '/** A row. It begins anew. */',
    'export interface Row { readonly tokenPlace: string }',
    'type Wanted = string;',
    'function run({ told }: { told: string }, placeholder: string) { return told + placeholder; }',
    "const word = 'place'; // of whoever asks",
  ].join('\n');
  const source = { path: 'src/example.ts', text };

  expect(bannedNames(source)).toEqual([
    'src/example.ts:2 declares tokenPlace',
    'src/example.ts:3 declares Wanted',
    'src/example.ts:4 declares told',
    'src/example.ts:4 declares told',
  ]);
  expect(bannedComments(source)).toEqual(['src/example.ts:1 says anew', 'src/example.ts:5 says whoever']);
});

test('exports are compared within a program, and not between kinds of back ends', () => {
  const named = (...paths: string[]) => ambiguousExports(paths.map(path => ({ name: 'one', path })));

  expect(named('src/db/a.ts', 'src/http/b.ts')).toEqual(['one: src/db/a.ts, src/http/b.ts']);
  expect(named('src/pages/browser/a.ts', 'src/payments/checkout/page/browser/b.ts')).toHaveLength(1);
  expect(named('src/data/pages/browser/a.ts', 'src/payments/dashboard/browser/b.ts')).toEqual([]);
  expect(named('src/data/backends/blockscout/a.ts', 'src/data/backends/thirdweb/b.ts')).toEqual([]);
  expect(named('src/data/backends/blockscout/a.ts', 'src/data/backends/port/b.ts')).toHaveLength(1);
  expect(
    exportsOf({
      path: 'src/a.ts',
      text: 'export const one = 1;\nexport async function two() {}\nconst three = 3;',
    }),
  ).toEqual([
    { name: 'one', path: 'src/a.ts' },
    { name: 'two', path: 'src/a.ts' },
  ]);
});
