import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '..', '..');
/** Files with decisions, each as a heading `### 14. Title`. */
const HOMES = globSync('spec/*/decisions.md', { cwd: ROOT });
const CITING = [
  ...globSync(['src/**/*', 'scripts/**/*', 'test/**/*.ts', 'spec/**/*.{md,yaml}', 'docs/*.md', '*.md'], {
    cwd: ROOT,
  }),
].filter(file => /\.(ts|js|md|yaml|css|html)$/.test(file));

const headings = HOMES.flatMap(file =>
  [...read(file).matchAll(/^### ((\d+)\. .+)$/gm)].map(([, title = '', number]) => ({
    file,
    title,
    number: Number(number),
  })),
);

test('every decision cited in code, contracts or texts is in exactly one file', () => {
  const numbers = headings.map(({ number }) => number);
  const cited = CITING.flatMap(file => citedIn(read(file)).map(number => ({ file, number })));

  expect(numbers.filter((number, index) => numbers.indexOf(number) !== index)).toEqual([]);
  expect(cited.length).toBeGreaterThan(1_000);
  expect(cited.filter(({ number }) => !numbers.includes(number))).toEqual([]);
});

test('the table of contents of every decisions.md lists its topics and decisions in order', () => {
  for (const file of HOMES) {
    const text = read(file);
    const start = text.search(/^## (?!Contents)/m);
    const listed = [...text.slice(0, start).matchAll(/^ *- \[(.+)\]\(#(.+)\)$/gm)].map(
      ([, title = '', anchor]) => [title, anchor],
    );
    const actual = [...text.slice(start).matchAll(/^###? (.+)$/gm)].map(([, title = '']) => [
      title,
      anchorOf(title),
    ]);

    expect(listed, file).toEqual(actual);
  }
});

test('every link to a decision points to a heading', () => {
  const links = CITING.filter(file => file.endsWith('.md')).flatMap(file =>
    [...read(file).matchAll(/\]\(([\w./-]*(?:spec\/README|decisions)\.md)(?:#([^)]+))?\)/g)].map(
      ([, path = '', anchor]) => ({ file, path: join(dirname(file), path), anchor }),
    ),
  );

  expect(links.length).toBeGreaterThan(headings.length);
  expect(links.filter(({ path, anchor }) => !leads(path, anchor))).toEqual([]);
});

/** Numbers after the word: "Decision 5", "Decisions 71 and 145", "Decisions 74 to 86", `x-decision: 5`. */
function citedIn(text: string): number[] {
  return [
    ...text.matchAll(/\b[Dd]ecisions? (\d+(?:(?:, | and | to |, and )\d+)*)|x-decision: (\d+)/g),
  ].flatMap(([, list, one]) => [...(list ?? one ?? '').matchAll(/\d+/g)].map(([number]) => Number(number)));
}

function leads(path: string, anchor: string | undefined): boolean {
  if (!existsSync(join(ROOT, path))) return false;
  if (anchor === undefined) return true;
  return [...read(path).matchAll(/^#+ (.+)$/gm)].some(([, title = '']) => anchorOf(title) === anchor);
}

/** GitHub's anchor of a heading: lower case, without punctuation, hyphens for blanks. */
function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-');
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
