/**
 * Verifies that a change touches only comments and texts:
 *   npm run -s texts-only -- BASE [HEAD] [--show]
 * Compares two commits without comments. In programs and contracts it also ignores descriptions and strings that
 * contain a space. HEAD is the current commit when absent. `--show` prints the changed strings for review, because a
 * stripped string may be SQL. Exits with 1 when code differs.
 */
import { execFileSync } from 'node:child_process';
import { extname } from 'node:path';
import { parseArgs } from 'node:util';
import { lacking, stripped } from './texts-only/stripped-file.ts';

const USAGE = 'usage: npm run texts-only -- BASE [HEAD] [--show]';
const MAX_BYTES = 256 * 2 ** 20;

function git(...args: string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: MAX_BYTES });
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
  if (before === undefined || after === undefined) continue;
  const [old, now] = [before, after].map(text => stripped(text, path));
  if (old?.code !== now?.code) differing.push(path);
  const [lost, gained] = [lacking(old, now), lacking(now, old)];
  texts += gained.length;
  if (!values.show || extname(path) === '.md' || lost.length + gained.length === 0) continue;
  console.log([path, ...lost.map(text => `- ${text}`), ...gained.map(text => `+ ${text}`)].join('\n'));
}

for (const path of differing) console.error(`code has changed, too: ${path}`);
console.log(
  `${changed('M').length} files with changes, ${texts} new texts, ${differing.length} files whose code differs`,
);
process.exitCode = differing.length === 0 ? 0 : 1;
